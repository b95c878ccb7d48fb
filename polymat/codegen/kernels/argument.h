/* Arguments of a call. */
#pragma once

/* An argument, read on its own: the caller has written them one by one a moment ago, and a load of two at a
   time, which a compiler makes of their loads, waits until both stores are in the cache. */
#define _PM_ARGUMENT(element) (*(const volatile __typeof__(element) *)&(element))
