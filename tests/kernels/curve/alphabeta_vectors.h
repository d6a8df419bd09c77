// vk_alphabeta_12 as snarkjs writes it, for the keys of two circuits: made by `snarkjs zkey export
// verificationkey` (0.7.6) and turned from decimal to hexadecimal.

#ifndef PROOFMILL_TESTS_KERNELS_CURVE_ALPHABETA_VECTORS_H_
#define PROOFMILL_TESTS_KERNELS_CURVE_ALPHABETA_VECTORS_H_

namespace proofmill::kernels::vectors {

struct AlphaBetaVector {
  const char* circuit;
  const char* alpha1[2];      // x, y
  const char* beta2[4];       // x.c0, x.c1, y.c0, y.c1
  const char* alphabeta[12];  // coefficients of w^i v^j u^k for (i, j, k) = (0,0,0), (0,0,1), (0,1,0), ...
};

inline constexpr AlphaBetaVector kAlphaBeta[] = {
    {"mul3",
     {"02b7f4f4b0eeb846ef03a3fe16e6f5598aa0f0e2ca458e883d75127e2bcfd375",
      "24f28f17f0d33474ebf488d8f05fd4fb38e7066dd978548e7bd423d7671b043a"},
     {"02e352adce8f8a1aaf938d39056986af2b0fc98663244ed2dfc7f90a00056e02",
      "039660d905462bfb20fafcd1df21981be0124717c32205a7676f615a5e208286",
      "1c940e017fcff142ed6a557dfe102bae96536e39937feabee3b49816e0c20823",
      "1deb8cb45d6722a7711cf0b5bbe7b70b7b860f18939c5ddb8e867b89821caba5"},
     {"0185855d75fb2f4f706cf3b42d119c3e190ad8b39a23e6ccdb03b73f9c39e376",
      "2549c44946bd096e37a249f25d35223844056e37ca6be4761d4193ab15ff9f2f",
      "1b80d666ed750cc698bafcd6f339ea7fa9a2c8378407a047d71c5a247c7c9b1e",
      "0ad6c5bd5aed3c7daa8bacbb0f3a6329e1018f175f00ddb0c840dd18bd0daa61",
      "0c086bda94bcb1e38da481f109885800d3deac3c81bb2d78ddb4dd2374d75421",
      "1e3e3f52b76417f66d137d1156f541a66400582e32306c1951767874035add18",
      "1f86d2fb73aa2ec3d6c2b12e64a0c90ff22e99796b16fb98a4581b7dff055ab8",
      "2bce70a95ae799700a673176c979c9f645fc0b515a50d472a987b502883ef2da",
      "16e756a97172887b4b7680a321b8e7d226755ff91249006f860e69a64c1b8f6e",
      "0cda08878c85e51427ede48d6976f09de10529591d6fb36bcec39e0084ae16d8",
      "0f60ce3c3864755dcf2d209ad413c6fb0e94ab757d1f8fd74a882446e2766fdc",
      "20121052462343b4b378d8bbf2cdec411f6beb3d8755cf3bb5a0d2130e36c800"}},
    {"semaphore-20",
     {"245229d9b076b3c0e8a4d70bde8c1cccffa08a9fae7557b165b3b0dbd653e2c7",
      "253ec85988dbb84e46e94b5efa3373b47a000b4ac6c86b2d4b798d274a182302"},
     {"2424bcc1f60a5472685fd50705b2809626e170120acaf441e133a2bd5e61d244",
      "07090a82e8fabbd39299be24705b92cf208ee8b3487f6f2b39ff27978a29a1db",
      "2b86859fd3d55c9d150fb3f0aeba798826493dd73d357ab0f9fdaced9fc81829",
      "0ae1135cffdaf227c5dc266740607aa930bc3bd92ddc2b135086d9da2dfd3e2a"},
     {"0ba9f467c78fbdb90f480f8bee9f6b7cfd62157b0a819cf3951b8c740c40aaba",
      "018c9f087aaf0a525dc5d9821166d18d66c305f0127a70521e71b524da21d98f",
      "24a68d3cbe1eef4a6ad46e7f5404beea67b9be31c51240f0f47d4339b9ec4df6",
      "14ccee3f75ec14f93c98dc3698bb8d5155c495fd9d9b98c19b4612da3088935a",
      "1bff3af7d6bb45caa92d0613b778109aa26a13098bfb7e8983fdf77eb7e92c9f",
      "09ccd35ab88ca31a59051409d48e2c58f9f6537e968213355c134601c3eec7b2",
      "1d02a9de0f5922ed8dc590e67aaa89947b15cea7c3bbb04dbbcdf1b5544bebd9",
      "15147967e06603edfc7964d19566818ce812fc288492b4d8ec35e56a76e75468",
      "2f27df5791a1a290351738d76a4ddf203a39f840138080efcbc2f639b72c184b",
      "260c0f3789734a648bb49ef71dc4d44f80b69fed3462c942a7c9b63d9423e886",
      "0bd1fe3e667b201a7395d316d7829251a9e2f2f128d01779322ce68d2588494b",
      "22496c486254867c8b80c41e531b57485aa5f69af018a9a0e2b62e12285ac544"}},
};

}  // namespace proofmill::kernels::vectors

#endif  // PROOFMILL_TESTS_KERNELS_CURVE_ALPHABETA_VECTORS_H_
