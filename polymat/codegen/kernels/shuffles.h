/* Whether the compiler shuffles vectors; gcc 9, which has no shuffles of this kind, does not know the question. */
#pragma once

#if defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector)
#define _PM_SHUFFLES
#endif
#endif
