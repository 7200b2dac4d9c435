"""Takes what a dynamic linker left to do at run time out of the component.

The interpreter and its libraries are modules that import where their data and functions lie, as globals, and a table
that might grow. In the finished component every one of these is known: the image was made with them. So a global
that nothing ever sets becomes a constant wherever it is read, and the table gets the size that it has. A program
runs no other instructions than before, only fewer.

    python3 known_addresses.py IN OUT
"""

import sys

from component_file import (
    ALIAS,
    CODE,
    CORE_INSTANCE,
    CORE_MODULE,
    EXPORTS,
    FUNCTION,
    GLOBAL,
    GLOBALS,
    IMPORTS,
    MEMORY,
    START,
    TABLE,
    TABLES,
    Reader,
    Unexpected,
    joined,
    sections,
    signed,
    unsigned,
)

I32 = 0x7F
BLOCKS = (0x02, 0x03, 0x04)
BR_TABLE, SELECT_TYPED, GLOBAL_GET, GLOBAL_SET, I32_CONST, PREFIXED = 0x0E, 0x1C, 0x23, 0x24, 0x41, 0xFC
TABLE_GROW = 15

# Numbers that follow each instruction; what has something else behind it is read one by one.
NUMBERS = dict.fromkeys([0x00, 0x01, 0x05, 0x0B, 0x0F, 0x1A, 0x1B, *range(0x45, 0xC5)], 0)
NUMBERS.update(dict.fromkeys([*BLOCKS, 0x0C, 0x0D, 0x10, 0x12, *range(0x20, 0x27), *range(0x3F, 0x43), 0xD0, 0xD2], 1))
NUMBERS.update(dict.fromkeys([0x11, 0x13, *range(0x28, 0x3F)], 2))
FIXED_BYTES = {0x43: 4, 0x44: 8}
PREFIXED_NUMBERS = {**dict.fromkeys(range(8), 0), 8: 2, 9: 1, 10: 2, 11: 1, 12: 2, 13: 1, 14: 2, 15: 1, 16: 1, 17: 1}


class Module:
    """What of a core module matters here."""

    def __init__(self, data):
        self.header, self.sections = data[:8], sections(data)
        self.imported = []
        self.globals = []
        self.exports = {}
        self.starts = False
        for kind, content in self.sections:
            reader = Reader(content)
            if kind == IMPORTS:
                for _ in range(reader.unsigned()):
                    self.read_import(reader)
            elif kind == GLOBALS:
                self.globals = [read_global(reader) for _ in range(reader.unsigned())]
            elif kind == EXPORTS:
                for _ in range(reader.unsigned()):
                    name, sort = reader.name(), reader.byte()
                    self.exports[name] = (sort, reader.unsigned())
            elif kind == START:
                self.starts = True

    def read_import(self, reader):
        where, sort = (reader.name(), reader.name()), reader.byte()
        skip_type(reader, sort)
        if sort == GLOBAL:
            self.imported.append(where)

    def code(self):
        return next((content for kind, content in self.sections if kind == CODE), None)

    def bytes(self):
        return joined(self.header, self.sections)


def skip_type(reader, sort):
    if sort == FUNCTION:
        reader.unsigned()
    elif sort == TABLE:
        reader.byte()
        reader.limits()
    elif sort == MEMORY:
        reader.limits()
    elif sort == GLOBAL:
        reader.at += 2
    else:
        raise Unexpected(f"an import of the sort {sort}")


def read_global(reader):
    """Its first value, if it is a whole number of 32 bits."""
    kind, _is_mutable = reader.byte(), reader.byte()
    values = []
    while (instruction := reader.byte()) != 0x0B:
        if instruction in (I32_CONST, 0x42):
            values.append(reader.signed())
            continue
        values.append(None)
        if instruction in FIXED_BYTES:
            reader.at += FIXED_BYTES[instruction]
        elif instruction in (GLOBAL_GET, 0xD0, 0xD2):
            reader.unsigned()
        elif instruction not in (0x6A, 0x6B, 0x6C):
            raise Unexpected(f"a global that begins with {instruction:#x}")
    return values[0] if kind == I32 and len(values) == 1 else None


class Component:
    def __init__(self, data):
        self.header, self.sections = data[:8], sections(data)
        self.modules, self.instances, self.aliased = [], [], []
        for kind, content in self.sections:
            reader = Reader(content)
            if kind == CORE_MODULE:
                self.modules.append(Module(content))
            elif kind == CORE_INSTANCE:
                self.instances += [read_instance(reader) for _ in range(reader.unsigned())]
            elif kind == ALIAS:
                for _ in range(reader.unsigned()):
                    self.read_alias(reader)

    def read_alias(self, reader):
        sort = reader.byte()
        core_sort = reader.byte() if sort == 0 else None
        target = reader.byte()
        if target == 2:
            reader.unsigned(), reader.unsigned()
            return
        source = (reader.unsigned(), reader.name())
        if target == 1 and core_sort == GLOBAL:
            self.aliased.append(source)

    def owner(self, instance, name):
        """The instance that has a global, by way of whoever passes it on, and its number there."""
        module, given = self.instances[instance]
        if module is None:
            return self.owner(*self.aliased[given[name]])
        _, index = self.modules[module].exports[name]
        return self.owned(instance, index)

    def owned(self, instance, index):
        """The same for a global by its number in an instance."""
        module, given = self.instances[instance]
        imported = self.modules[module].imported
        if index < len(imported):
            where, name = imported[index]
            return self.owner(given[where], name)
        return instance, index

    def value(self, instance, index):
        module = self.modules[self.instances[instance][0]]
        return module.globals[index - len(module.imported)]

    def running(self):
        """Instances of modules with code. Each module has one instance, so that its code can be its instance's."""
        made = [module for module, _ in self.instances if module is not None]
        if len(made) != len(set(made)):
            raise Unexpected("a module with two instances")
        instances = [(number, self.modules[m]) for number, (m, _) in enumerate(self.instances) if m is not None]
        return [(number, module) for number, module in instances if module.code()]

    def bytes(self):
        modules = iter(self.modules)
        return joined(
            self.header,
            [(kind, next(modules).bytes() if kind == CORE_MODULE else content) for kind, content in self.sections],
        )


def read_instance(reader):
    """A module's number and whom it is given by their names; or none, and the globals that it passes on."""
    if reader.byte() == 0:
        module, given = reader.unsigned(), {}
        for _ in range(reader.unsigned()):
            name, _sort = reader.name(), reader.byte()
            given[name] = reader.unsigned()
        return module, given
    passed = {}
    for _ in range(reader.unsigned()):
        name, sort, index = reader.name(), reader.byte(), reader.unsigned()
        if sort == GLOBAL:
            passed[name] = index
    return None, passed


def rewrite(code, constants, is_set, grows):
    """The code with these globals as constants. Tells which globals it sets, and whether it lets a table grow."""
    reader = Reader(code)
    count = reader.unsigned()
    out = bytearray(unsigned(count))
    for _ in range(count):
        size = reader.unsigned()
        body = rewrite_body(code[reader.at : reader.at + size], constants, is_set, grows)
        out += unsigned(len(body)) + body
        reader.at += size
    return bytes(out)


def rewrite_body(body, constants, is_set, grows):
    reader = Reader(body)
    for _ in range(reader.unsigned()):
        reader.unsigned(), reader.byte()
    at, end, copied, out = reader.at, len(body), 0, bytearray()
    while at < end:
        began, instruction = at, body[at]
        at += 1
        numbers = NUMBERS.get(instruction)
        if numbers is None:
            reader.at = at
            skip_rest(reader, instruction, grows)
            at = reader.at
            continue
        if instruction == GLOBAL_GET or instruction == GLOBAL_SET:
            reader.at = at
            index = reader.unsigned()
            at = reader.at
            if instruction == GLOBAL_SET:
                is_set(index)
            elif index in constants:
                out += body[copied:began] + bytes([I32_CONST]) + signed(constants[index])
                copied = at
            continue
        while numbers:
            while body[at] >= 0x80:
                at += 1
            at += 1
            numbers -= 1
    if at != end:
        raise Unexpected("a function that ends within an instruction")
    return bytes(out) + body[copied:]


def skip_rest(reader, instruction, grows):
    if instruction in FIXED_BYTES:
        reader.at += FIXED_BYTES[instruction]
    elif instruction == BR_TABLE:
        for _ in range(reader.unsigned() + 1):
            reader.unsigned()
    elif instruction == SELECT_TYPED:
        reader.at += reader.unsigned()
    elif instruction == PREFIXED:
        number = reader.unsigned()
        if number == TABLE_GROW:
            grows()
        if number not in PREFIXED_NUMBERS:
            raise Unexpected(f"the instruction {instruction:#x} {number}")
        for _ in range(PREFIXED_NUMBERS[number]):
            reader.unsigned()
    else:
        raise Unexpected(f"the instruction {instruction:#x}")


def fix_globals(component):
    """How many reads of a global became constants; and whether any code lets a table grow."""
    changed, growing = set(), []
    for instance, module in component.running():
        # What nobody can call sets nothing: the linker's own function, which ran when the image was made.
        if module.exports or module.starts:
            is_set = lambda index, number=instance: changed.add(component.owned(number, index))  # noqa: E731
            rewrite(module.code(), {}, is_set, lambda: growing.append(True))
    fixed = 0
    for instance, module in component.running():
        constants = {}
        for index in range(len(module.imported) + len(module.globals)):
            owned = component.owned(instance, index)
            if owned not in changed and (value := component.value(*owned)) is not None:
                constants[index] = value
        module.sections = [
            (kind, rewrite(content, constants, lambda _: None, lambda: None) if kind == CODE else content)
            for kind, content in module.sections
        ]
        fixed += len(constants)
    return fixed, bool(growing)


def fix_table(component):
    """The table that modules share, `__indirect_function_table`, gets the size that it has as its largest one."""
    sizes = set()
    for module in component.modules:
        shared = [index for name, (sort, index) in module.exports.items() if sort == TABLE and "indirect" in name]
        for place, (kind, content) in enumerate(module.sections):
            if kind == TABLES and shared:
                reader = Reader(content)
                count, element, (least, _most) = reader.unsigned(), reader.byte(), reader.limits()
                if count != 1 or reader.at != len(content):
                    raise Unexpected("a module with several tables")
                sizes.add(least)
                fixed = unsigned(1) + bytes([element, 1]) + unsigned(least) * 2
                module.sections[place] = (kind, fixed)
    if len(sizes) != 1:
        raise Unexpected(f"{len(sizes)} modules with a table for others")
    for module in component.modules:
        module.sections = [
            (kind, imports_of(content, *sizes) if kind == IMPORTS else content) for kind, content in module.sections
        ]


def imports_of(content, size):
    reader = Reader(content)
    count = reader.unsigned()
    out = bytearray(unsigned(count))
    for _ in range(count):
        began = reader.at
        _module, name, sort = reader.name(), reader.name(), reader.byte()
        named = reader.at
        skip_type(reader, sort)
        if sort == TABLE and name == "__indirect_function_table":
            out += content[began : named + 1] + b"\x01" + unsigned(size) * 2
        else:
            out += content[began : reader.at]
    return bytes(out)


def with_known_addresses(data):
    """The component anew."""
    component = Component(data)
    fixed, grows = fix_globals(component)
    if fixed == 0:
        raise Unexpected("no global with a value that is known")
    if not grows:
        fix_table(component)
    return component.bytes()


if __name__ == "__main__":
    with open(sys.argv[1], "rb") as file:
        rewritten = with_known_addresses(file.read())
    with open(sys.argv[2], "wb") as file:
        file.write(rewritten)
