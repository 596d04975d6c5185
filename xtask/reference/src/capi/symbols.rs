//! Functions of the C interface.

use std::ffi::{c_char, c_int, c_void};
use std::path::Path;

use libloading::os::unix::{Library as Object, RTLD_LOCAL, RTLD_NOW};

use crate::{Error, Result};

/// A pointer to an object of the library, or to bytes.
pub(super) type Ptr = *mut c_void;
/// A pointer to a variable for a new object.
pub(super) type Out = *mut Ptr;
/// A pointer to bytes that the library reads.
pub(super) type In = *const c_void;
/// A string that ends with a zero byte.
pub(super) type Text = *const c_char;
/// A status, which is zero on success.
pub(super) type Status = i32;
/// Frees an object and clears the pointer. Some functions return a status, which is ignored.
pub(super) type Free = unsafe extern "C" fn(Out);
/// Frees an object in a context.
pub(super) type FreeInContext = unsafe extern "C" fn(Ptr, Out) -> Status;

/// The first and last coordinate of a dimension in a current domain.
#[repr(C)]
pub(super) struct Range {
    pub(super) min: In,
    pub(super) min_size: u64,
    pub(super) max: In,
    pub(super) max_size: u64,
}

macro_rules! symbols {
    ($($name:ident($($argument:ty),*) $(-> $returned:ty)?;)*) => {
        /// All functions that jobs use. `None` for functions that the loaded release lacks.
        pub(super) struct Symbols {
            $(pub(super) $name: Option<unsafe extern "C" fn($($argument),*) $(-> $returned)?>,)*
        }

        impl Symbols {
            /// Looks up all functions in a loaded library.
            ///
            /// # Safety
            /// `object` must be a release of the reference library.
            unsafe fn look_up(object: &Object) -> Self {
                Self { $(
                    // SAFETY: the type matches the library's header.
                    $name: unsafe { object.get(concat!(stringify!($name), "\0").as_bytes()) }.ok().map(|symbol| *symbol),
                )* }
            }
        }
    };
}

symbols! {
    tiledb_version(*mut c_int, *mut c_int, *mut c_int);

    tiledb_config_alloc(Out, Out) -> Status;
    tiledb_config_set(Ptr, Text, Text, Out) -> Status;
    tiledb_config_free(Out);
    tiledb_ctx_alloc(Ptr, Out) -> Status;
    tiledb_ctx_get_last_error(Ptr, Out) -> Status;
    tiledb_ctx_free(Out);
    tiledb_error_message(Ptr, *mut Text) -> Status;
    tiledb_error_free(Out);
    tiledb_string_view(Ptr, *mut Text, *mut usize) -> Status;
    tiledb_string_free(Out);

    tiledb_filter_alloc(Ptr, u32, Out) -> Status;
    tiledb_filter_set_option(Ptr, Ptr, u32, In) -> Status;
    tiledb_filter_free(Out);
    tiledb_filter_list_alloc(Ptr, Out) -> Status;
    tiledb_filter_list_add_filter(Ptr, Ptr, Ptr) -> Status;
    tiledb_filter_list_set_max_chunk_size(Ptr, Ptr, u32) -> Status;
    tiledb_filter_list_free(Out);

    tiledb_dimension_alloc(Ptr, Text, u32, In, In, Out) -> Status;
    tiledb_dimension_set_filter_list(Ptr, Ptr, Ptr) -> Status;
    tiledb_dimension_get_domain(Ptr, Ptr, *mut In) -> Status;
    tiledb_dimension_get_name(Ptr, Ptr, *mut Text) -> Status;
    tiledb_dimension_get_type(Ptr, Ptr, *mut u32) -> Status;
    tiledb_dimension_get_cell_val_num(Ptr, Ptr, *mut u32) -> Status;
    tiledb_dimension_free(Out);
    tiledb_domain_alloc(Ptr, Out) -> Status;
    tiledb_domain_add_dimension(Ptr, Ptr, Ptr) -> Status;
    tiledb_domain_get_ndim(Ptr, Ptr, *mut u32) -> Status;
    tiledb_domain_get_dimension_from_index(Ptr, Ptr, u32, Out) -> Status;
    tiledb_domain_free(Out);

    tiledb_attribute_alloc(Ptr, Text, u32, Out) -> Status;
    tiledb_attribute_set_cell_val_num(Ptr, Ptr, u32) -> Status;
    tiledb_attribute_set_nullable(Ptr, Ptr, u8) -> Status;
    tiledb_attribute_set_fill_value(Ptr, Ptr, In, u64) -> Status;
    tiledb_attribute_set_fill_value_nullable(Ptr, Ptr, In, u64, u8) -> Status;
    tiledb_attribute_set_filter_list(Ptr, Ptr, Ptr) -> Status;
    tiledb_attribute_set_enumeration_name(Ptr, Ptr, Text) -> Status;
    tiledb_attribute_get_name(Ptr, Ptr, *mut Text) -> Status;
    tiledb_attribute_get_type(Ptr, Ptr, *mut u32) -> Status;
    tiledb_attribute_get_cell_val_num(Ptr, Ptr, *mut u32) -> Status;
    tiledb_attribute_get_nullable(Ptr, Ptr, *mut u8) -> Status;
    tiledb_attribute_free(Out);

    tiledb_enumeration_alloc(Ptr, Text, u32, u32, c_int, In, u64, In, u64, Out) -> Status;
    tiledb_enumeration_extend(Ptr, Ptr, In, u64, In, u64, Out) -> Status;
    tiledb_enumeration_free(Out);
    tiledb_ndrectangle_alloc(Ptr, Ptr, Out) -> Status;
    tiledb_ndrectangle_set_range(Ptr, Ptr, u32, *const Range) -> Status;
    tiledb_ndrectangle_free(Out);
    tiledb_current_domain_create(Ptr, Out) -> Status;
    tiledb_current_domain_set_ndrectangle(Ptr, Ptr, Ptr) -> Status;
    tiledb_current_domain_get_is_empty(Ptr, Ptr, *mut u32) -> Status;
    tiledb_current_domain_get_ndrectangle(Ptr, Ptr, Out) -> Status;
    tiledb_current_domain_free(Out);
    tiledb_ndrectangle_get_range(Ptr, Ptr, u32, *mut Range) -> Status;

    tiledb_array_schema_alloc(Ptr, u32, Out) -> Status;
    tiledb_array_schema_set_domain(Ptr, Ptr, Ptr) -> Status;
    tiledb_array_schema_set_capacity(Ptr, Ptr, u64) -> Status;
    tiledb_array_schema_set_cell_order(Ptr, Ptr, u32) -> Status;
    tiledb_array_schema_set_tile_order(Ptr, Ptr, u32) -> Status;
    tiledb_array_schema_set_allows_dups(Ptr, Ptr, c_int) -> Status;
    tiledb_array_schema_set_coords_filter_list(Ptr, Ptr, Ptr) -> Status;
    tiledb_array_schema_set_offsets_filter_list(Ptr, Ptr, Ptr) -> Status;
    tiledb_array_schema_set_validity_filter_list(Ptr, Ptr, Ptr) -> Status;
    tiledb_array_schema_add_attribute(Ptr, Ptr, Ptr) -> Status;
    tiledb_array_schema_add_enumeration(Ptr, Ptr, Ptr) -> Status;
    tiledb_array_schema_set_current_domain(Ptr, Ptr, Ptr) -> Status;
    tiledb_array_schema_get_current_domain(Ptr, Ptr, Out) -> Status;
    tiledb_array_schema_add_dimension_label(Ptr, Ptr, u32, Text, u32, u32) -> Status;
    tiledb_array_schema_set_dimension_label_filter_list(Ptr, Ptr, Text, Ptr) -> Status;
    tiledb_array_schema_get_dimension_label_from_name(Ptr, Ptr, Text, Out) -> Status;
    tiledb_array_schema_has_dimension_label(Ptr, Ptr, Text, *mut i32) -> Status;
    tiledb_dimension_label_get_label_type(Ptr, Ptr, *mut u32) -> Status;
    tiledb_dimension_label_get_label_cell_val_num(Ptr, Ptr, *mut u32) -> Status;
    tiledb_dimension_label_free(Out);
    tiledb_array_schema_get_array_type(Ptr, Ptr, *mut u32) -> Status;
    tiledb_array_schema_get_domain(Ptr, Ptr, Out) -> Status;
    tiledb_array_schema_get_attribute_num(Ptr, Ptr, *mut u32) -> Status;
    tiledb_array_schema_get_attribute_from_index(Ptr, Ptr, u32, Out) -> Status;
    tiledb_array_schema_load(Ptr, Text, Out) -> Status;
    tiledb_array_schema_free(Out);

    tiledb_array_schema_evolution_alloc(Ptr, Out) -> Status;
    tiledb_array_schema_evolution_add_attribute(Ptr, Ptr, Ptr) -> Status;
    tiledb_array_schema_evolution_drop_attribute(Ptr, Ptr, Text) -> Status;
    tiledb_array_schema_evolution_add_enumeration(Ptr, Ptr, Ptr) -> Status;
    tiledb_array_schema_evolution_extend_enumeration(Ptr, Ptr, Ptr) -> Status;
    tiledb_array_schema_evolution_drop_enumeration(Ptr, Ptr, Text) -> Status;
    tiledb_array_schema_evolution_expand_current_domain(Ptr, Ptr, Ptr) -> Status;
    tiledb_array_schema_evolution_set_timestamp_range(Ptr, Ptr, u64, u64) -> Status;
    tiledb_array_schema_evolution_free(Out);
    tiledb_array_evolve(Ptr, Text, Ptr) -> Status;
    tiledb_array_upgrade_version(Ptr, Text, Ptr) -> Status;
    tiledb_array_get_enumeration(Ptr, Ptr, Text, Out) -> Status;

    tiledb_array_create(Ptr, Text, Ptr) -> Status;
    tiledb_array_alloc(Ptr, Text, Out) -> Status;
    tiledb_array_set_open_timestamp_start(Ptr, Ptr, u64) -> Status;
    tiledb_array_set_open_timestamp_end(Ptr, Ptr, u64) -> Status;
    tiledb_array_open(Ptr, Ptr, u32) -> Status;
    tiledb_array_get_schema(Ptr, Ptr, Out) -> Status;
    tiledb_array_close(Ptr, Ptr) -> Status;
    tiledb_array_free(Out);
    tiledb_array_consolidate(Ptr, Text, Ptr) -> Status;
    tiledb_array_consolidate_fragments(Ptr, Text, *const Text, u64, Ptr) -> Status;
    tiledb_array_vacuum(Ptr, Text, Ptr) -> Status;
    tiledb_array_delete_fragments_v2(Ptr, Text, u64, u64) -> Status;
    tiledb_array_put_metadata(Ptr, Ptr, Text, u32, u32, In) -> Status;
    tiledb_array_delete_metadata(Ptr, Ptr, Text) -> Status;
    tiledb_array_get_metadata_num(Ptr, Ptr, *mut u64) -> Status;
    tiledb_array_get_metadata_from_index(Ptr, Ptr, u64, *mut Text, *mut u32, *mut u32, *mut u32, *mut In) -> Status;

    tiledb_subarray_alloc(Ptr, Ptr, Out) -> Status;
    tiledb_subarray_add_range_by_name(Ptr, Ptr, Text, In, In, In) -> Status;
    tiledb_subarray_add_range_var_by_name(Ptr, Ptr, Text, In, u64, In, u64) -> Status;
    tiledb_subarray_add_range(Ptr, Ptr, u32, In, In, In) -> Status;
    tiledb_subarray_add_label_range(Ptr, Ptr, Text, In, In, In) -> Status;
    tiledb_subarray_add_label_range_var(Ptr, Ptr, Text, In, u64, In, u64) -> Status;
    tiledb_subarray_free(Out);
    tiledb_query_alloc(Ptr, Ptr, u32, Out) -> Status;
    tiledb_query_set_layout(Ptr, Ptr, u32) -> Status;
    tiledb_query_set_subarray_t(Ptr, Ptr, Ptr) -> Status;
    tiledb_query_set_condition(Ptr, Ptr, Ptr) -> Status;
    tiledb_query_set_data_buffer(Ptr, Ptr, Text, Ptr, *mut u64) -> Status;
    tiledb_query_set_offsets_buffer(Ptr, Ptr, Text, *mut u64, *mut u64) -> Status;
    tiledb_query_set_validity_buffer(Ptr, Ptr, Text, *mut u8, *mut u64) -> Status;
    tiledb_query_submit(Ptr, Ptr) -> Status;
    tiledb_query_finalize(Ptr, Ptr) -> Status;
    tiledb_query_get_status(Ptr, Ptr, *mut u32) -> Status;
    tiledb_query_free(Out);
    tiledb_query_condition_alloc(Ptr, Out) -> Status;
    tiledb_query_condition_init(Ptr, Ptr, Text, In, u64, u32) -> Status;
    tiledb_query_condition_alloc_set_membership(Ptr, Text, In, u64, In, u64, u32, Out) -> Status;
    tiledb_query_condition_combine(Ptr, Ptr, Ptr, u32, Out) -> Status;
    tiledb_query_condition_negate(Ptr, Ptr, Out) -> Status;
    tiledb_query_condition_free(Out);

    tiledb_query_get_default_channel(Ptr, Ptr, Out) -> Status;
    tiledb_query_channel_free(Ptr, Out) -> Status;
    tiledb_create_unary_aggregate(Ptr, Ptr, Ptr, Text, Out) -> Status;
    tiledb_aggregate_count_get(Ptr, Out) -> Status;
    tiledb_channel_operator_sum_get(Ptr, Out) -> Status;
    tiledb_channel_operator_min_get(Ptr, Out) -> Status;
    tiledb_channel_operator_max_get(Ptr, Out) -> Status;
    tiledb_channel_operator_mean_get(Ptr, Out) -> Status;
    tiledb_channel_operator_null_count_get(Ptr, Out) -> Status;
    tiledb_channel_apply_aggregate(Ptr, Ptr, Text, Ptr) -> Status;
    tiledb_aggregate_free(Ptr, Out) -> Status;

    tiledb_fragment_info_alloc(Ptr, Text, Out) -> Status;
    tiledb_fragment_info_load(Ptr, Ptr) -> Status;
    tiledb_fragment_info_get_fragment_num(Ptr, Ptr, *mut u32) -> Status;
    tiledb_fragment_info_get_fragment_name_v2(Ptr, Ptr, u32, Out) -> Status;
    tiledb_fragment_info_get_fragment_uri(Ptr, Ptr, u32, *mut Text) -> Status;
    tiledb_fragment_info_get_version(Ptr, Ptr, u32, *mut u32) -> Status;
    tiledb_fragment_info_get_dense(Ptr, Ptr, u32, *mut i32) -> Status;
    tiledb_fragment_info_get_timestamp_range(Ptr, Ptr, u32, *mut u64, *mut u64) -> Status;
    tiledb_fragment_info_get_cell_num(Ptr, Ptr, u32, *mut u64) -> Status;
    tiledb_fragment_info_get_mbr_num(Ptr, Ptr, u32, *mut u64) -> Status;
    tiledb_fragment_info_get_array_schema_name(Ptr, Ptr, u32, *mut Text) -> Status;
    tiledb_fragment_info_get_non_empty_domain_from_index(Ptr, Ptr, u32, u32, Ptr) -> Status;
    tiledb_fragment_info_get_non_empty_domain_var_size_from_index(Ptr, Ptr, u32, u32, *mut u64, *mut u64) -> Status;
    tiledb_fragment_info_get_non_empty_domain_var_from_index(Ptr, Ptr, u32, u32, Ptr, Ptr) -> Status;
    tiledb_fragment_info_free(Out);

    tiledb_group_create(Ptr, Text) -> Status;
    tiledb_group_alloc(Ptr, Text, Out) -> Status;
    tiledb_group_open(Ptr, Ptr, u32) -> Status;
    tiledb_group_close(Ptr, Ptr) -> Status;
    tiledb_group_add_member(Ptr, Ptr, Text, u8, Text) -> Status;
    tiledb_group_remove_member(Ptr, Ptr, Text) -> Status;
    tiledb_group_get_member_count(Ptr, Ptr, *mut u64) -> Status;
    tiledb_group_get_member_by_index_v2(Ptr, Ptr, u64, Out, *mut u32, Out) -> Status;
    tiledb_group_put_metadata(Ptr, Ptr, Text, u32, u32, In) -> Status;
    tiledb_group_delete_metadata(Ptr, Ptr, Text) -> Status;
    tiledb_group_get_metadata_num(Ptr, Ptr, *mut u64) -> Status;
    tiledb_group_get_metadata_from_index(Ptr, Ptr, u64, *mut Text, *mut u32, *mut u32, *mut u32, *mut In) -> Status;
    tiledb_group_get_member_by_index(Ptr, Ptr, u64, *mut Text, *mut u32, *mut Text) -> Status;
    tiledb_group_consolidate_metadata(Ptr, Text, Ptr) -> Status;
    tiledb_group_vacuum_metadata(Ptr, Text, Ptr) -> Status;
    tiledb_group_free(Out);

    // Functions that were removed. Until 2.14 and 2.25: keys as arguments. Until 2.14: one call per
    // kind of buffers, and timestamps as arguments. Until 2.25: subarrays without an object.
    tiledb_array_create_with_key(Ptr, Text, Ptr, u32, In, u32) -> Status;
    tiledb_array_open_with_key(Ptr, Ptr, u32, u32, In, u32) -> Status;
    tiledb_array_open_at(Ptr, Ptr, u32, u64) -> Status;
    tiledb_array_open_at_with_key(Ptr, Ptr, u32, u32, In, u32, u64) -> Status;
    tiledb_array_schema_load_with_key(Ptr, Text, u32, In, u32, Out) -> Status;
    tiledb_array_consolidate_with_key(Ptr, Text, u32, In, u32, Ptr) -> Status;
    tiledb_fragment_info_load_with_key(Ptr, Ptr, u32, In, u32) -> Status;
    tiledb_query_set_buffer(Ptr, Ptr, Text, Ptr, *mut u64) -> Status;
    tiledb_query_set_buffer_var(Ptr, Ptr, Text, *mut u64, *mut u64, Ptr, *mut u64) -> Status;
    tiledb_query_set_buffer_nullable(Ptr, Ptr, Text, Ptr, *mut u64, *mut u8, *mut u64) -> Status;
    tiledb_query_set_buffer_var_nullable(Ptr, Ptr, Text, *mut u64, *mut u64, Ptr, *mut u64, *mut u8, *mut u64) -> Status;
    tiledb_query_set_subarray(Ptr, Ptr, In) -> Status;
    tiledb_query_add_range(Ptr, Ptr, u32, In, In, In) -> Status;
    tiledb_query_add_range_var(Ptr, Ptr, u32, In, u64, In, u64) -> Status;
}

/// A loaded release of the reference library. A process loads only one release and never unloads
/// it, because the library's threads would crash.
pub(crate) struct Library {
    pub(super) symbols: Symbols,
    release: String,
    /// Used to look up functions by name.
    object: &'static Object,
}

impl Library {
    /// Loads the shared library at `path`.
    pub(crate) fn load(path: &Path) -> Result<&'static Self> {
        // SAFETY: the file comes from a wheel of the reference library, whose initializers have no
        // preconditions.
        let object = unsafe { Object::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
        let object = object.map_err(|source| Error::Load { path: path.to_owned(), source })?;
        // SAFETY: as above.
        let symbols = unsafe { Symbols::look_up(&object) };
        let object: &'static Object = Box::leak(Box::new(object));
        let (mut major, mut minor, mut patch) = (0, 0, 0);
        let Some(version) = symbols.tiledb_version else {
            return Err(Error::NotTheReference { path: path.to_owned() });
        };
        // SAFETY: the pointers point to three variables for three numbers.
        unsafe { version(&mut major, &mut minor, &mut patch) };
        Ok(Box::leak(Box::new(Self { symbols, release: format!("{major}.{minor}.{patch}"), object })))
    }

    /// Returns the version of the library, for example `2.30.0`.
    pub(crate) fn release(&self) -> &str {
        &self.release
    }

    /// `true` if this release has a function with this name.
    pub(crate) fn has(&self, function: &str) -> bool {
        // SAFETY: the symbol is not called, and any type will do.
        unsafe { self.object.get::<unsafe extern "C" fn()>(function.as_bytes()) }.is_ok()
    }

    /// Returns the error for a function that this release lacks.
    pub(super) fn missing(&self, function: &'static str) -> Error {
        Error::Library(format!("release {} has no {function}", self.release))
    }
}
