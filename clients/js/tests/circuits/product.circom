pragma circom 2.0.0;

// Knows factors of a public product.
template Product(n) {
    signal input factors[n];
    signal output product;
    signal partial[n];

    partial[0] <== factors[0];
    for (var i = 1; i < n; i++) {
        partial[i] <== partial[i - 1] * factors[i];
    }
    product <== partial[n - 1];
}

component main = Product(4);
