/* What compilers spell differently. */
#ifndef BLINDSAVE_COMPILER_H
#define BLINDSAVE_COMPILER_H

#if defined(__GNUC__) && !defined(__clang__)
#define BS_UNROLL _Pragma("GCC unroll 16")
#pragma GCC diagnostic ignored "-Wpsabi" /* vectors are passed between inlined functions only */
#else
#define BS_UNROLL _Pragma("unroll")
#endif

#endif
