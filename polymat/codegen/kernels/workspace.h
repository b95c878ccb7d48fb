/* The workspace of a library, as programs ask for it; it is kept by workspaceapart.h, compiled apart. */
#pragma once

#include <stddef.h>
#include "shared.h"

_PM_SHARED void *_pm_workspace_found(size_t bytes);
_PM_SHARED void _pm_workspace_kept(void *workspace);

static _Alignas(64) char _pm_workspace_none[64]; /* what a call gets that needs none */

static inline void *_pm_workspace_take(size_t bytes)
{
    return bytes == 0 ? _pm_workspace_none : _pm_workspace_found(bytes);
}

static inline void _pm_workspace_give(void *workspace)
{
    if (workspace != NULL && workspace != _pm_workspace_none)
        _pm_workspace_kept(workspace);
}
