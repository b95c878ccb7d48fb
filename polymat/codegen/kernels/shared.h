/* Functions that may be compiled apart from the programs that call them: for headers that are compiled alone. */
#pragma once

#define _PM_SHARED
