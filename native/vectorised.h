// CRAB_VECTORISED: a loop compiled for what the processor has. The features are named, because a processor
// newer than the compiler is none of the architectures it knows. CRAB_VECTORISES is defined where that works,
// which is also where instructions may be named.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define CRAB_VECTORISES
#define CRAB_VECTORISED __attribute__((target_clones("default", "avx2", "avx512f"), optimize("O3", "no-trapping-math")))
#else
#define CRAB_VECTORISED
#endif
