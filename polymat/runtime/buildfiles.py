"""Files beside a saved library by which build systems find it: for pkg-config and for CMake.

Both say where they lie themselves, so that the directory may be moved as a whole.
"""

from __future__ import annotations

from polymat.runtime.release import release


def pkg_config(name: str, library: str) -> str:
    """`polymat-NAME.pc`, for `pkg-config --cflags --libs polymat-NAME`."""
    return f"""# written by polymat, beside {library} and {name}.h
directory=${{pcfiledir}}

Name: polymat-{name}
Description: {name}, compiled by polymat
Version: {release()}
Cflags: -I${{directory}}
Libs: -L${{directory}} -l{name} -Wl,-rpath,${{directory}}
"""


def cmake_config(name: str, library: str) -> str:
    """`polymat-NAMEConfig.cmake`, for `find_package(polymat-NAME)` and the target `polymat::NAME`."""
    return f"""# written by polymat, beside {library} and {name}.h
if(NOT TARGET polymat::{name})
    add_library(polymat::{name} SHARED IMPORTED)
    set_target_properties(polymat::{name} PROPERTIES
        IMPORTED_LOCATION "${{CMAKE_CURRENT_LIST_DIR}}/{library}"
        IMPORTED_NO_SONAME TRUE
        INTERFACE_INCLUDE_DIRECTORIES "${{CMAKE_CURRENT_LIST_DIR}}")
endif()
"""


def build_files(name: str, library: str) -> dict[str, str]:
    """The texts of both files, by their names."""
    return {
        f"polymat-{name}.pc": pkg_config(name, library),
        f"polymat-{name}Config.cmake": cmake_config(name, library),
    }
