//! What a text means, as a vector: texts that mean the like have vectors that point the same way.
//!
//! The model is all-MiniLM-L6-v2, for English. Its weights are packed into the binary when it is built
//! (`build/`): 3 to 6 bits each. Nothing here reads a file, opens a connection or starts a thread.
//!
//! A text becomes tokens (`word_piece`), the tokens go through six layers (`forward`), and the mean of what
//! comes out is the vector; of a definition, also the means of some pieces of it (`definition`). Products are
//! sums of whole numbers, and everything else adds and multiplies in a fixed order, so that a text has the same
//! vector on every machine. `unsafe` is in `kernels` only.

mod attention;
mod definition;
mod elementwise;
mod format;
mod forward;
mod kernels;
mod linear;
mod vector;
mod vocabulary;
mod weights;
mod word_piece;

pub use definition::{Definition, Query};
pub use vector::Vector;

use kernels::Kernel;
use vocabulary::Vocabulary;
use weights::Weights;

/// The numbers of a vector.
pub const DIMENSIONS: usize = format::WIDTH;

/// In a build without weights there are none.
static PACKED: Option<&[u8]> = include!(concat!(env!("OUT_DIR"), "/packed_weights.rs"));

/// Goes up when the same weights give other vectors than before.
const REVISION: &str = "1";

/// Names the weights and the way of encoding: vectors of another one are not comparable.
pub fn fingerprint() -> Option<&'static str> {
    static NAME: std::sync::LazyLock<String> =
        std::sync::LazyLock::new(|| format!("all-MiniLM-L6-v2-{}-{REVISION}", &format::PACKED_HASH[..16]));
    PACKED.map(|_| NAME.as_str())
}

/// Makes vectors of texts.
///
/// Unpacked it takes 11 MB, and 2 MB more for each text that is being encoded. Threads may share it; one text
/// is encoded on one thread, in some milliseconds for a query and some tens for a long definition.
pub struct Encoder {
    vocabulary: Vocabulary,
    weights: Weights,
    kernel: Kernel,
}

impl Encoder {
    /// The encoder with the weights of this build, unpacked in some 20 ms. `None` in a build without.
    pub fn embedded() -> Option<Self> {
        let (vocabulary, weights) = weights::read(PACKED?)?;
        Some(Self { vocabulary: Vocabulary::new(vocabulary)?, weights, kernel: Kernel::best() })
    }

    /// The same encoder without the processor's wide instructions: the same vectors, more slowly.
    pub fn without_wide_instructions(self) -> Self {
        Self { kernel: Kernel::portable(), ..self }
    }

    /// The vector of a text. Only its beginning counts: 8 KiB, and of that 126 tokens, which is about 100 words.
    pub fn encode(&self, text: &str) -> Vector {
        definition::whole(&self.rows(&word_piece::tokens(text, &self.vocabulary)))
    }

    /// The vectors of a short text, which is compared with definitions. As much of it counts as by
    /// [`Self::encode`].
    pub fn encode_query(&self, text: &str) -> Query {
        Query::of(&self.rows(&word_piece::tokens(text, &self.vocabulary)))
    }

    /// The vectors of a text that is given in two parts, the first of which says more. As much of it counts as
    /// by [`Self::encode`], in as much time.
    pub fn encode_definition(&self, parts: &[String; 2]) -> Definition {
        let tokens = word_piece::tokens(&parts.concat(), &self.vocabulary);
        let end = word_piece::tokens(&parts[0], &self.vocabulary).len() - 1;
        Definition::of(&self.rows(&tokens), end)
    }

    fn rows(&self, tokens: &[u16]) -> Vec<f32> {
        self.kernel.run(&self.weights, tokens)
    }
}
