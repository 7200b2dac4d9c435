//! The functions of the module that we use, looked up once.
//!
//! A JavaScript value is, to the host, the address of a box in the guest's memory. Whoever gets a box
//! frees it, except for what a host function is called with, which is only lent.

use wasmtime::{AsContextMut, Global, Instance, Memory, TypedFunc};

macro_rules! exports {
    ($($name:ident = $export:literal: $parameters:ty => $result:ty,)*) => {
        pub struct Exports {
            pub memory: Memory,
            pub stack_pointer: Global,
            /// A few bytes of the guest's memory for what functions answer by address.
            pub scratch: i32,
            $(pub $name: TypedFunc<$parameters, $result>,)*
        }

        impl Exports {
            pub fn of(instance: &Instance, mut store: impl AsContextMut) -> wasmtime::Result<Self> {
                let missing = |name: &str| wasmtime::Error::msg(format!("the module has no {name}"));
                Ok(Self {
                    memory: instance.get_memory(&mut store, "memory").ok_or_else(|| missing("memory"))?,
                    stack_pointer: instance
                        .get_global(&mut store, "__stack_pointer")
                        .ok_or_else(|| missing("__stack_pointer"))?,
                    scratch: 0,
                    $($name: instance.get_typed_func(&mut store, $export)?,)*
                })
            }
        }
    };
}

exports! {
    initialize = "_initialize": () => (),
    malloc = "wasm_malloc": i32 => i32,
    free = "wasm_free": i32 => (),
    init = "qjs_init": () => i32,
    get_context_ptr = "qjs_get_context_ptr": () => i32,
    set_memory_limit = "qjs_set_memory_limit": i32 => (),
    set_max_stack_size = "qjs_set_max_stack_size": i32 => (),
    set_gc_threshold = "qjs_set_gc_threshold": i32 => (),
    set_promise_rejection_handler = "qjs_set_promise_rejection_handler": i32 => (),
    run_gc = "qjs_run_gc": () => (),
    eval = "qjs_eval": (i32, i32, i32, i32) => i32,
    call = "qjs_call": (i32, i32, i32, i32) => i32,
    is_job_pending = "qjs_is_job_pending": () => i32,
    execute_pending_job = "qjs_execute_pending_job": () => i32,
    is_exception = "qjs_is_exception": i32 => i32,
    get_exception = "qjs_get_exception": () => i32,
    throw = "qjs_throw": i32 => i32,
    throw_out_of_memory = "JS_ThrowOutOfMemory": i32 => i64,
    free_value = "qjs_free_value": i32 => (),
    get_value_ptr = "qjs_get_value_ptr": i32 => i32,
    new_string = "qjs_new_string": (i32, i32) => i32,
    new_number = "qjs_new_number": f64 => i32,
    new_object = "qjs_new_object": () => i32,
    new_array = "qjs_new_array": () => i32,
    get_undefined = "qjs_get_undefined": () => i32,
    get_true = "qjs_get_true": () => i32,
    get_false = "qjs_get_false": () => i32,
    new_uint8_array = "qjs_new_uint8_array": (i32, i32) => i32,
    new_host_function = "qjs_new_host_function": (i32, i32, i32) => i32,
    is_undefined = "qjs_is_undefined": i32 => i32,
    is_string = "qjs_is_string": i32 => i32,
    is_promise = "qjs_is_promise": i32 => i32,
    is_proxy = "qjs_is_proxy": i32 => i32,
    get_float64 = "qjs_get_float64": i32 => f64,
    get_bool = "qjs_get_bool": i32 => i32,
    get_string_len = "qjs_get_string_len": (i32, i32) => i32,
    free_cstring = "qjs_free_cstring": i32 => (),
    get_typed_array_buffer = "qjs_get_typed_array_buffer": (i32, i32, i32, i32) => i32,
    get_array_buffer = "qjs_get_array_buffer": (i32, i32) => i32,
    get_proxy_target = "qjs_get_proxy_target": i32 => i32,
    get_prop_string = "qjs_get_prop_string": (i32, i32) => i32,
    set_prop_string = "qjs_set_prop_string": (i32, i32, i32) => i32,
    set_prop_uint32 = "qjs_set_prop_uint32": (i32, i32, i32) => i32,
    promise_state = "qjs_promise_state": i32 => i32,
    promise_result = "qjs_promise_result": i32 => i32,
}
