//! The interpreter's library, loaded while we run: the few functions of its C interface that we use, all of
//! them in its stable part. `unsafe` lives here.
//!
//! Invariants: one thread ever comes here. It initializes the interpreter and holds its lock for good, so every
//! function below may be called at any time after [`Python::start`].

use std::ffi::{CStr, CString, c_char, c_int, c_long, c_ulonglong, c_void};
use std::path::Path;

/// An object of the interpreter; never looked into.
#[repr(C)]
pub struct PyObject {
    _opaque: [u8; 0],
}

/// A reference that nobody counts: whoever got it knows whether it is his.
pub type Object = *mut PyObject;

/// A function of ours that programs can call: its arguments come as a tuple.
pub type HostFunction = unsafe extern "C" fn(Object, Object) -> Object;

/// The interpreter's own structure.
#[repr(C)]
struct MethodDefinition {
    name: *const c_char,
    function: HostFunction,
    flags: c_int,
    documentation: *const c_char,
}

/// The arguments are a tuple.
const VARIABLE_ARGUMENTS: c_int = 1;

/// What a text is compiled as: a whole file.
const FILE_INPUT: c_int = 257;

macro_rules! functions {
    ($($name:ident: fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions by their names in C.
        #[expect(non_snake_case, reason = "the interpreter's own names")]
        struct Functions {
            $($name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            fn find(library: *mut c_void) -> Result<Self, String> {
                Ok(Self {
                    $($name: {
                        let address = symbol(library, concat!(stringify!($name), "\0"))?;
                        // SAFETY: the documented type of this function in every Python from 3.11 on.
                        unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($argument),*) $(-> $result)?>(address) }
                    },)*
                })
            }
        }
    };
}

functions! {
    Py_InitializeEx: fn(c_int);
    Py_CompileString: fn(*const c_char, *const c_char, c_int) -> Object;
    PyEval_EvalCode: fn(Object, Object, Object) -> Object;
    PyEval_GetBuiltins: fn() -> Object;
    PyErr_Print: fn();
    PyErr_Clear: fn();
    PyObject_CallObject: fn(Object, Object) -> Object;
    PyDict_New: fn() -> Object;
    PyDict_SetItemString: fn(Object, *const c_char, Object) -> c_int;
    PyDict_GetItemString: fn(Object, *const c_char) -> Object;
    PyTuple_New: fn(isize) -> Object;
    PyTuple_SetItem: fn(Object, isize, Object) -> c_int;
    PyTuple_GetItem: fn(Object, isize) -> Object;
    PyList_New: fn(isize) -> Object;
    PyList_Append: fn(Object, Object) -> c_int;
    PyUnicode_DecodeUTF8: fn(*const c_char, isize, *const c_char) -> Object;
    PyUnicode_AsUTF8AndSize: fn(Object, *mut isize) -> *const c_char;
    PyBytes_FromStringAndSize: fn(*const c_char, isize) -> Object;
    PyBytes_AsStringAndSize: fn(Object, *mut *mut c_char, *mut isize) -> c_int;
    PyLong_FromUnsignedLongLong: fn(c_ulonglong) -> Object;
    PyLong_AsUnsignedLongLong: fn(Object) -> c_ulonglong;
    PyErr_Occurred: fn() -> Object;
    PyBool_FromLong: fn(c_long) -> Object;
    PyCFunction_NewEx: fn(*mut MethodDefinition, Object, Object) -> Object;
    Py_DecRef: fn(Object);
    Py_IncRef: fn(Object);
    PyOS_BeforeFork: fn();
    PyOS_AfterFork_Parent: fn();
    PyOS_AfterFork_Child: fn();
}

fn symbol(library: *mut c_void, name: &str) -> Result<*mut c_void, String> {
    debug_assert!(name.ends_with('\0'));
    // SAFETY: an open library, and a name that ends with a zero.
    let address = unsafe { libc::dlsym(library, name.as_ptr().cast()) };
    match address.is_null() {
        true => {
            Err(format!("it has no function {}; Python 3.11 or newer is needed", name.trim_end_matches('\0')))
        }
        false => Ok(address),
    }
}

fn c_string(text: &str) -> CString {
    // Up to the first zero, of which none of our names has one.
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}

/// The interpreter of this process.
pub struct Python {
    functions: Functions,
    none: Object,
}

impl Python {
    /// Loads the library and starts its interpreter, with these variables in its environment.
    pub fn start(library: &Path, variables: &[(&str, &str)]) -> Result<Self, String> {
        for (name, value) in variables {
            let (name, value) = (c_string(name), c_string(value));
            // SAFETY: one thread, so nobody reads the environment meanwhile.
            unsafe { libc::setenv(name.as_ptr(), value.as_ptr(), 1) };
        }
        let path = c_string(&library.to_string_lossy());
        // SAFETY: loading runs the library's own initializers. What the environment's modules are linked to is found
        // in it, hence for everybody.
        let opened = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
        if opened.is_null() {
            return Err(load_error());
        }
        let functions = Functions::find(opened)?;
        let none = symbol(opened, "_Py_NoneStruct\0")?.cast();
        // SAFETY: once in the life of this process, by its only thread. Without signal handlers.
        unsafe { (functions.Py_InitializeEx)(0) };
        Ok(Self { functions, none })
    }

    /// Before a fork; one of the next two must follow.
    pub fn before_fork(&self) {
        // SAFETY: initialized, and the lock is held.
        unsafe { (self.functions.PyOS_BeforeFork)() };
    }

    /// In the process that forked.
    pub fn after_fork_in_parent(&self) {
        // SAFETY: after `before_fork`.
        unsafe { (self.functions.PyOS_AfterFork_Parent)() };
    }

    /// In the new process.
    pub fn after_fork_in_child(&self) {
        // SAFETY: after `before_fork`, in the only thread of the new process.
        unsafe { (self.functions.PyOS_AfterFork_Child)() };
    }

    /// Runs a text as a module; gives its globals, which hold `given` from the start.
    pub fn run_module(&self, text: &str, name: &str, given: &[(&str, Object)]) -> Result<Object, String> {
        let functions = &self.functions;
        let (text, name) = (c_string(text), c_string(name));
        // SAFETY: texts that end with a zero; references that are ours.
        unsafe {
            let globals = (functions.PyDict_New)();
            self.set(globals, "__builtins__", (functions.PyEval_GetBuiltins)());
            for (name, value) in given {
                self.set(globals, name, *value);
            }
            let code = (functions.Py_CompileString)(text.as_ptr(), name.as_ptr(), FILE_INPUT);
            if code.is_null() {
                return Err(self.failure());
            }
            let outcome = (functions.PyEval_EvalCode)(code, globals, globals);
            if outcome.is_null() {
                return Err(self.failure());
            }
            Ok(globals)
        }
    }

    /// A name among a module's globals; lives as long as they do.
    pub fn get(&self, globals: Object, name: &str) -> Result<Object, String> {
        let c_name = c_string(name);
        // SAFETY: a dict, and a text that ends with a zero.
        let found = unsafe { (self.functions.PyDict_GetItemString)(globals, c_name.as_ptr()) };
        if found.is_null() { Err(format!("the guest has no `{name}`")) } else { Ok(found) }
    }

    /// Puts a value into a dict.
    pub fn set(&self, dict: Object, name: &str, value: Object) {
        let name = c_string(name);
        // SAFETY: a dict, a text that ends with a zero, and an object.
        unsafe { (self.functions.PyDict_SetItemString)(dict, name.as_ptr(), value) };
    }

    pub fn dict(&self) -> Object {
        // SAFETY: initialized.
        unsafe { (self.functions.PyDict_New)() }
    }

    /// Calls a function. The arguments are used up.
    pub fn call(&self, function: Object, arguments: &[Object]) -> Result<Object, String> {
        let tuple = self.tuple(arguments);
        // SAFETY: a callable and a tuple.
        let outcome = unsafe {
            let outcome = (self.functions.PyObject_CallObject)(function, tuple);
            (self.functions.Py_DecRef)(tuple);
            outcome
        };
        if outcome.is_null() { Err(self.failure()) } else { Ok(outcome) }
    }

    /// A tuple of these, which are used up.
    pub fn tuple(&self, items: &[Object]) -> Object {
        // SAFETY: a new tuple of this length, each place of which is filled once.
        unsafe {
            let tuple = (self.functions.PyTuple_New)(items.len() as isize);
            for (at, item) in items.iter().enumerate() {
                (self.functions.PyTuple_SetItem)(tuple, at as isize, *item);
            }
            tuple
        }
    }

    /// A list of these, which are used up.
    pub fn list(&self, items: impl Iterator<Item = Object>) -> Object {
        // SAFETY: a new list; it takes references of its own.
        unsafe {
            let list = (self.functions.PyList_New)(0);
            for item in items {
                (self.functions.PyList_Append)(list, item);
                (self.functions.Py_DecRef)(item);
            }
            list
        }
    }

    pub fn text(&self, text: &str) -> Object {
        // SAFETY: this many bytes of UTF-8.
        unsafe {
            (self.functions.PyUnicode_DecodeUTF8)(
                text.as_ptr().cast(),
                text.len() as isize,
                c"replace".as_ptr(),
            )
        }
    }

    pub fn bytes(&self, bytes: &[u8]) -> Object {
        // SAFETY: this many bytes, which are copied.
        unsafe { (self.functions.PyBytes_FromStringAndSize)(bytes.as_ptr().cast(), bytes.len() as isize) }
    }

    pub fn number(&self, number: u64) -> Object {
        // SAFETY: any number.
        unsafe { (self.functions.PyLong_FromUnsignedLongLong)(number) }
    }

    pub fn truth(&self, truth: bool) -> Object {
        // SAFETY: any number.
        unsafe { (self.functions.PyBool_FromLong)(c_long::from(truth)) }
    }

    /// A new reference to `None`.
    pub fn none(&self) -> Object {
        // SAFETY: the interpreter's own object.
        unsafe { (self.functions.Py_IncRef)(self.none) };
        self.none
    }

    /// A function of ours as an object.
    pub fn function(&self, name: &'static CStr, function: HostFunction) -> Object {
        let definition = Box::new(MethodDefinition {
            name: name.as_ptr(),
            function,
            flags: VARIABLE_ARGUMENTS,
            documentation: std::ptr::null(),
        });
        let nobody = std::ptr::null_mut();
        // SAFETY: the definition is never freed.
        unsafe { (self.functions.PyCFunction_NewEx)(Box::into_raw(definition), nobody, nobody) }
    }

    /// One of a call's arguments as text. Where it is none, an error is set and there is nothing.
    pub fn text_argument(&self, arguments: Object, at: isize) -> Option<String> {
        let item = self.argument(arguments, at)?;
        self.text_of(item)
    }

    /// An object as text. Where it is none, an error is set and there is nothing.
    pub fn text_of(&self, object: Object) -> Option<String> {
        let mut length = 0;
        // SAFETY: an object, whatever it is; the bytes belong to it and are copied at once.
        unsafe {
            let start = (self.functions.PyUnicode_AsUTF8AndSize)(object, &mut length);
            if start.is_null() {
                return None;
            }
            let bytes = std::slice::from_raw_parts(start.cast::<u8>(), usize::try_from(length).ok()?);
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
    }

    /// One of a call's arguments as bytes.
    pub fn bytes_argument(&self, arguments: Object, at: isize) -> Option<Vec<u8>> {
        let item = self.argument(arguments, at)?;
        let (mut start, mut length) = (std::ptr::null_mut(), 0);
        // SAFETY: an object, whatever it is; the bytes belong to it and are copied at once.
        unsafe {
            if (self.functions.PyBytes_AsStringAndSize)(item, &mut start, &mut length) < 0 {
                return None;
            }
            Some(std::slice::from_raw_parts(start.cast::<u8>(), usize::try_from(length).ok()?).to_vec())
        }
    }

    /// One of a call's arguments as a number that is not negative.
    pub fn number_argument(&self, arguments: Object, at: isize) -> Option<u64> {
        let item = self.argument(arguments, at)?;
        // SAFETY: an object, whatever it is.
        unsafe {
            let number = (self.functions.PyLong_AsUnsignedLongLong)(item);
            (number != u64::MAX || (self.functions.PyErr_Occurred)().is_null()).then_some(number)
        }
    }

    /// Whether one of a call's arguments is `None`.
    pub fn is_none(&self, arguments: Object, at: isize) -> bool {
        self.argument(arguments, at).is_some_and(|item| item == self.none)
    }

    fn argument(&self, arguments: Object, at: isize) -> Option<Object> {
        // SAFETY: a tuple; where it has no such place, an error is set.
        let item = unsafe { (self.functions.PyTuple_GetItem)(arguments, at) };
        (!item.is_null()).then_some(item)
    }

    pub fn release(&self, object: Object) {
        // SAFETY: a reference of ours, which nobody uses afterwards.
        unsafe { (self.functions.Py_DecRef)(object) };
    }

    /// Nothing is left of an error that was set.
    pub fn forget_error(&self) {
        // SAFETY: initialized.
        unsafe { (self.functions.PyErr_Clear)() };
    }

    /// What went wrong goes to standard error, whole.
    fn failure(&self) -> String {
        // SAFETY: called where an error is set.
        unsafe { (self.functions.PyErr_Print)() };
        "the guest failed".to_owned()
    }
}

fn load_error() -> String {
    // SAFETY: after a call that failed; the text is copied at once.
    unsafe {
        let message = libc::dlerror();
        match message.is_null() {
            true => "it can't be loaded".to_owned(),
            false => CStr::from_ptr(message).to_string_lossy().into_owned(),
        }
    }
}
