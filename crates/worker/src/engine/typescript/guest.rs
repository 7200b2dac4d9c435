//! What the host does with the guest's values: makes, reads, calls and frees them.

use std::ops::Range;
use std::sync::Arc;

use wasmtime::{AsContextMut, TypedFunc, WasmParams, WasmResults};

use super::exports::Exports;
use super::instance::Host;

/// The address of a box with a JavaScript value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value(pub i32);

/// Why a host function has no value to give.
#[derive(Debug)]
pub enum Failure {
    /// An exception waits in the guest.
    Thrown,
    /// Nothing of the guest goes on.
    Fatal(wasmtime::Error),
}

impl From<wasmtime::Error> for Failure {
    fn from(error: wasmtime::Error) -> Self {
        Failure::Fatal(error)
    }
}

pub type Outcome<T> = Result<T, Failure>;

/// A view of a live guest, for as long as a call into or out of it lasts.
pub struct Guest<C> {
    pub context: C,
    exports: Arc<Exports>,
}

impl<C: AsContextMut<Data = Host>> Guest<C> {
    pub fn new(context: C, exports: Arc<Exports>) -> Self {
        Self { context, exports }
    }

    pub fn host(&mut self) -> &mut Host {
        self.exports.memory.data_and_store_mut(self.context.as_context_mut()).1
    }

    /// Calls a function of the module.
    pub fn raw<P: WasmParams, R: WasmResults>(
        &mut self,
        function: impl FnOnce(&Exports) -> &TypedFunc<P, R>,
        parameters: P,
    ) -> wasmtime::Result<R> {
        let exports = Arc::clone(&self.exports);
        function(&exports).call(&mut self.context, parameters)
    }

    // Memory.

    pub fn bytes(&self, range: Range<usize>) -> wasmtime::Result<&[u8]> {
        let memory = self.exports.memory.data(self.context.as_context());
        memory.get(range).ok_or_else(outside)
    }

    pub fn bytes_mut(&mut self, range: Range<usize>) -> wasmtime::Result<&mut [u8]> {
        let memory = self.exports.memory.data_mut(self.context.as_context_mut());
        memory.get_mut(range).ok_or_else(outside)
    }

    /// The guest's bytes, to be read while the host's own things change.
    pub fn bytes_and_host(&mut self, range: Range<usize>) -> wasmtime::Result<(&[u8], &mut Host)> {
        let (memory, host) = self.exports.memory.data_and_store_mut(self.context.as_context_mut());
        Ok((memory.get(range).ok_or_else(outside)?, host))
    }

    /// Room in the guest; where there is none, the program's own "out of memory".
    pub fn allocate(&mut self, bytes: usize) -> Outcome<i32> {
        let address = match i32::try_from(bytes) {
            Ok(bytes) => self.raw(|e| &e.malloc, bytes.max(1))?,
            Err(_) => 0,
        };
        if address == 0 {
            let context = self.raw(|e| &e.get_context_ptr, ())?;
            self.raw(|e| &e.throw_out_of_memory, context)?;
            return Err(Failure::Thrown);
        }
        Ok(address)
    }

    pub fn release(&mut self, address: i32) -> wasmtime::Result<()> {
        self.raw(|e| &e.free, address)
    }

    /// The guest's copy of some text, with a zero behind it.
    fn put(&mut self, bytes: &[u8]) -> Outcome<i32> {
        let address = self.allocate(bytes.len() + 1)?;
        let room = self.bytes_mut(span(address, bytes.len() + 1))?;
        room[..bytes.len()].copy_from_slice(bytes);
        room[bytes.len()] = 0;
        Ok(address)
    }

    fn scratch(&self, index: usize) -> i32 {
        self.exports.scratch + 4 * index as i32
    }

    fn scratch_value(&self, index: usize) -> wasmtime::Result<u32> {
        let bytes = self.bytes(span(self.scratch(index), 4))?;
        Ok(bytes.first_chunk().map_or(0, |word| u32::from_le_bytes(*word)))
    }

    // Making values.

    pub fn text(&mut self, text: &str) -> Outcome<Value> {
        let address = self.put(text.as_bytes())?;
        let made = self.raw(|e| &e.new_string, (address, text.len() as i32))?;
        self.release(address)?;
        self.checked(made)
    }

    pub fn number(&mut self, number: f64) -> Outcome<Value> {
        let made = self.raw(|e| &e.new_number, number)?;
        self.checked(made)
    }

    pub fn boolean(&mut self, truth: bool) -> Outcome<Value> {
        let made = match truth {
            true => self.raw(|e| &e.get_true, ())?,
            false => self.raw(|e| &e.get_false, ())?,
        };
        self.checked(made)
    }

    pub fn undefined(&mut self) -> Outcome<Value> {
        let made = self.raw(|e| &e.get_undefined, ())?;
        self.checked(made)
    }

    /// An array of these values, which it takes.
    pub fn array(&mut self, members: &[Value]) -> Outcome<Value> {
        let made = self.raw(|e| &e.new_array, ())?;
        let array = self.checked(made)?;
        for (index, member) in (0i32..).zip(members) {
            self.raw(|e| &e.set_prop_uint32, (array.0, index, member.0))?;
            self.free(*member)?;
        }
        Ok(array)
    }

    /// A `Uint8Array` with a copy of what lies in the guest's memory.
    pub fn byte_array(&mut self, address: i32, length: usize) -> Outcome<Value> {
        let made = self.raw(|e| &e.new_uint8_array, (address, length as i32))?;
        self.checked(made)
    }

    /// A string of UTF-8 that lies in the guest's memory.
    pub fn text_at(&mut self, address: i32, length: usize) -> Outcome<Value> {
        let made = self.raw(|e| &e.new_string, (address, length as i32))?;
        self.checked(made)
    }

    /// An object with a host function under each of these names.
    pub fn functions(&mut self, names: &[&str]) -> Outcome<Value> {
        let made = self.raw(|e| &e.new_object, ())?;
        let object = self.checked(made)?;
        for name in names {
            let address = self.put(name.as_bytes())?;
            let function = self.raw(|e| &e.new_host_function, (address, name.len() as i32, 0))?;
            let function = self.checked(function)?;
            self.raw(|e| &e.set_prop_string, (object.0, address, function.0))?;
            self.free(function)?;
            self.release(address)?;
        }
        Ok(object)
    }

    pub fn member(&mut self, object: Value, name: &str) -> Outcome<Value> {
        let address = self.put(name.as_bytes())?;
        let found = self.raw(|e| &e.get_prop_string, (object.0, address))?;
        self.release(address)?;
        self.checked(found)
    }

    pub fn free(&mut self, value: Value) -> wasmtime::Result<()> {
        self.raw(|e| &e.free_value, value.0)
    }

    /// A box that the guest gave us, unless it stands for an exception, which then waits.
    pub fn checked(&mut self, address: i32) -> Outcome<Value> {
        if address == 0 {
            return Err(Failure::Thrown);
        }
        if self.raw(|e| &e.is_exception, address)? != 0 {
            self.raw(|e| &e.free_value, address)?;
            return Err(Failure::Thrown);
        }
        Ok(Value(address))
    }

    // Reading values.

    pub fn number_of(&mut self, value: Value) -> wasmtime::Result<f64> {
        self.raw(|e| &e.get_float64, value.0)
    }

    pub fn is_true(&mut self, value: Value) -> wasmtime::Result<bool> {
        Ok(self.raw(|e| &e.get_bool, value.0)? != 0)
    }

    pub fn is_undefined(&mut self, value: Value) -> wasmtime::Result<bool> {
        Ok(self.raw(|e| &e.is_undefined, value.0)? != 0)
    }

    pub fn is_string(&mut self, value: Value) -> wasmtime::Result<bool> {
        Ok(self.raw(|e| &e.is_string, value.0)? != 0)
    }

    /// Looks at a value's UTF-8, wherever the guest put it.
    pub fn with_text<T>(
        &mut self,
        value: Value,
        look: impl FnOnce(&mut Self, i32, usize) -> Outcome<T>,
    ) -> Outcome<T> {
        let address = self.raw(|e| &e.get_string_len, (value.0, self.scratch(0)))?;
        if address == 0 {
            return Err(Failure::Thrown);
        }
        let length = self.scratch_value(0)? as usize;
        let looked = look(self, address, length);
        self.raw(|e| &e.free_cstring, address)?;
        looked
    }

    /// A copy of a value's text. What is no UTF-8, half of a pair of surrogates, is replaced.
    pub fn text_of(&mut self, value: Value) -> Outcome<String> {
        self.with_text(value, |guest, address, length| {
            Ok(String::from_utf8_lossy(guest.bytes(span(address, length))?).into_owned())
        })
    }

    /// Where the bytes of a typed array lie, and how many there are.
    pub fn array_bytes(&mut self, array: Value) -> Outcome<(i32, usize)> {
        let out = [self.scratch(0), self.scratch(1), self.scratch(2)];
        let buffer = self.raw(|e| &e.get_typed_array_buffer, (array.0, out[0], out[1], out[2]))?;
        let buffer = self.checked(buffer)?;
        let (offset, length) = (self.scratch_value(0)?, self.scratch_value(1)?);
        let data = self.raw(|e| &e.get_array_buffer, (buffer.0, self.scratch(3)))?;
        self.free(buffer)?;
        if data == 0 && length > 0 {
            return Err(Failure::Thrown);
        }
        Ok((data.wrapping_add(offset as i32), length as usize))
    }

    // Running.

    /// Evaluates a script.
    pub fn evaluate(&mut self, code: Value, filename: &str) -> Outcome<Value> {
        let name = self.put(filename.as_bytes())?;
        let evaluated = self.with_text(code, |guest, address, length| {
            let evaluated = guest.raw(|e| &e.eval, (address, length as i32, name, 0))?;
            guest.checked(evaluated)
        });
        self.release(name)?;
        evaluated
    }

    /// Calls a function with values, which it takes.
    pub fn call(&mut self, function: Value, arguments: &[Value]) -> Outcome<Value> {
        let list = self.allocate(4 * arguments.len())?;
        let words: Vec<u8> = arguments.iter().flat_map(|argument| argument.0.to_le_bytes()).collect();
        self.bytes_mut(span(list, words.len()))?.copy_from_slice(&words);
        let this = self.undefined()?;
        let called = self.raw(|e| &e.call, (function.0, this.0, arguments.len() as i32, list))?;
        for value in arguments.iter().chain([&this]) {
            self.free(*value)?;
        }
        self.release(list)?;
        self.checked(called)
    }

    /// Takes the exception that waits.
    pub fn exception(&mut self) -> wasmtime::Result<Value> {
        Ok(Value(self.raw(|e| &e.get_exception, ())?))
    }

    /// Throws a word, from which the guest makes an error.
    pub fn throw_text(&mut self, text: &str) -> Failure {
        let thrown = self.text(text).and_then(|value| {
            self.raw(|e| &e.throw, value.0)?;
            Ok(self.free(value)?)
        });
        match thrown {
            Ok(()) => Failure::Thrown,
            Err(failure) => failure,
        }
    }
}

/// A range of the guest's memory.
pub fn span(address: i32, length: usize) -> Range<usize> {
    let start = address as u32 as usize;
    start..start.saturating_add(length)
}

fn outside() -> wasmtime::Error {
    wasmtime::Error::msg("an address outside of the guest's memory")
}
