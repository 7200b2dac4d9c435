"""The component's entry points. Importing this module is the build's pre-initialisation."""

from gristmill_guest import stdlib

stdlib.pack_and_install()

import wit_world  # noqa: E402  the packed importer must be in place first

from gristmill_guest import image, program, warm  # noqa: E402


class WitWorld(wit_world.WitWorld):
    def warm(self) -> None:
        warm.warm()

    def ready(self) -> None:
        program.ready()

    def run(
        self,
        code: str,
        filename: str,
        context: str,
        result_bytes: int,
        large_result_bytes: int,
        result_depth: int,
        keep: bool,
    ) -> str:
        return program.run(code, context, result_bytes, result_depth, keep, filename, large_result_bytes)


image.settle()
