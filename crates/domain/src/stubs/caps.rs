//! Every cap on what a schema can make a stub hold, with its reason.

/// What a stub may hold. Tried from the roomiest to the barest until the file is small enough.
#[derive(Debug)]
pub(super) struct Caps {
    /// Nesting of schemas. Bounds the stack that reading takes.
    pub depth_max: usize,
    /// Schemas visited, counted over and over where a reference repeats. Bounds the time.
    pub nodes_max: usize,
    /// Named types in one file.
    pub types_max: usize,
    /// Fields of one named type.
    pub fields_max: usize,
    /// Values of one enum that are spelled out.
    pub literals_max: usize,
    /// Characters of all values of one enum.
    pub literal_chars_max: usize,
    /// Members of one union.
    pub variants_max: usize,
    /// Characters of a field's description.
    pub field_doc_chars_max: usize,
    /// Characters of a tool's description.
    pub tool_doc_chars_max: usize,
}

/// From full types to none. The last one cannot exceed `FILE_BYTES_MAX` by much, whatever the schema.
pub(super) const LEVELS: [Caps; 3] = [
    Caps {
        depth_max: 32,
        nodes_max: 8_000,
        types_max: 150,
        fields_max: 200,
        literals_max: 64,
        literal_chars_max: 1_500,
        variants_max: 32,
        field_doc_chars_max: 400,
        tool_doc_chars_max: 2_000,
    },
    Caps {
        depth_max: 5,
        nodes_max: 2_000,
        types_max: 40,
        fields_max: 50,
        literals_max: 16,
        literal_chars_max: 300,
        variants_max: 8,
        field_doc_chars_max: 80,
        tool_doc_chars_max: 1_000,
    },
    Caps {
        depth_max: 1,
        nodes_max: 400,
        types_max: 0,
        fields_max: 0,
        literals_max: 0,
        literal_chars_max: 0,
        variants_max: 4,
        field_doc_chars_max: 0,
        tool_doc_chars_max: 500,
    },
];

/// What a program or a model still reads in one piece.
pub(super) const FILE_BYTES_MAX: usize = 48 * 1024;

/// Parameters of one tool with a name in the stub; the others are passed by their own names.
pub(super) const PARAMETERS_MAX: usize = 200;

/// Bytes of a property's name, spelled as a string literal.
pub(super) const NAME_BYTES_MAX: usize = 120;

/// A type behind a reference that has more parts than this gets a name instead of being repeated.
pub(super) const INLINE_PARTS_MAX: usize = 6;

/// Characters of a default, an example or a pattern in a doc line.
pub(super) const SHOWN_VALUE_CHARS_MAX: usize = 80;

/// Characters of a signature, as long as its required parameters allow it.
pub(super) const SIGNATURE_CHARS_MAX: usize = 300;

/// Characters of an example call, as long as its required parameters allow it.
pub(super) const EXAMPLE_CHARS_MAX: usize = 400;

/// Characters of a call in a list, as long as its required parameters allow it, and of what it returns.
pub(super) const COMPACT_CHARS_MAX: usize = 240;
