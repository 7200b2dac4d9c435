"""What to say when a package is not in the environment: which command brings it."""

import sys

from gristmill_guest import missing

class ExplainingFinder(missing.ExplainingFinder):
    """Last on sys.meta_path, as in the WebAssembly engine, whose advice is about other limits."""

    def message(self, fullname):
        top = fullname.partition(".")[0]
        is_ours = top in self._known or top in sys.stdlib_module_names or top in missing.REMOVED
        # A package that needs a network or processes would be of no use here either.
        is_advised = top in missing.ADVICE and top not in missing.NATIVE
        if is_ours or is_advised or top == "servers" or self._close(fullname):
            return super().message(fullname)
        name = missing.NATIVE.get(top, top)
        return (
            f"No module named '{fullname}': it isn't in the Python environment; "
            f"whoever runs the gateway can add it with `gristmill python add {name}`"
        )
