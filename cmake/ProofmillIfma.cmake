# proofmill_ifma_sources(FILE...): compiles these sources of the current folder, named *_ifma.cc, for AVX-512 IFMA. They may
# run only behind Supported(Arithmetic::kIfma), and may emit no inline function that other sources emit too:
# montgomery_ifma.h says why, and tests/checks/ifma_objects.py checks the objects. PROOFMILL_IFMA tells whether the compiler's
# target can have them at all.
set(PROOFMILL_IFMA OFF)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(PROOFMILL_IFMA ON)
endif()
function(proofmill_ifma_sources)
  # GCC 12 takes the undefined pass-through operands in its own AVX-512 headers for uninitialised variables (GCC bug 105593).
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS
    "-mavx512f;-mavx512dq;-mavx512bw;-mavx512vl;-mavx512ifma;$<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized;-Wno-maybe-uninitialized>")
endfunction()

# The same for sources named *_fma.cc, which are compiled for AVX2 and FMA and run behind Supported(Arithmetic::kFma).
function(proofmill_fma_sources)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "-mavx2;-mfma")
endfunction()

# The same for sources named *_avx2.cc and *_avx512.cc: they run behind CurrentBabyBearKernels().
function(proofmill_avx2_sources)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "-mavx2")
endfunction()
function(proofmill_avx512_sources)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS
    "-mavx512f;-mavx512dq;-mavx512bw;-mavx512vl;$<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized;-Wno-maybe-uninitialized>")
endfunction()
