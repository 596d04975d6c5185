//! Filter lists to try, fastest to unfilter first.

use tdb_array::tdb_filters::{Filter, FilterPipeline};
use tdb_types::{Datatype, PhysicalType};

const LEVEL: i32 = Filter::DEFAULT_LEVEL;
const LZ4: Filter = Filter::Lz4 { level: LEVEL };
const ZSTD: Filter = Filter::Zstd { level: LEVEL };
const RLE: Filter = Filter::Rle { level: LEVEL };
const DOUBLE_DELTA: Filter = Filter::DoubleDelta { level: LEVEL, reinterpret: None };
const DICTIONARY: Filter = Filter::Dictionary { level: LEVEL };

/// Returns the filter lists to try for a datatype, without checksums.
///
/// Lossy filters are left out. bzip2 and gzip are left out, because zstd compresses as well and
/// unfilters several times faster.
fn bare(datatype: Datatype, is_var: bool) -> Vec<Vec<Filter>> {
    let is_text = matches!(datatype, Datatype::StringAscii | Datatype::StringUtf8 | Datatype::Char);
    if is_var && is_text {
        return vec![vec![], vec![LZ4], vec![ZSTD], vec![DICTIONARY, ZSTD], vec![RLE, ZSTD]];
    }
    let mut lists = vec![vec![], vec![LZ4], vec![ZSTD]];
    if datatype.size() > 1 {
        lists.insert(2, vec![Filter::Byteshuffle, LZ4]);
        lists.push(vec![Filter::Byteshuffle, ZSTD]);
        lists.push(vec![Filter::Bitshuffle, ZSTD]);
    }
    let is_float = matches!(datatype.physical(), PhysicalType::F32 | PhysicalType::F64);
    if is_float {
        lists.push(vec![Filter::Xor, Filter::Byteshuffle, ZSTD]);
    } else if !is_var {
        lists.push(vec![RLE]);
        lists.push(vec![DOUBLE_DELTA, ZSTD]);
        if datatype.size() > 1 {
            let max_window = Filter::DEFAULT_BIT_WIDTH_WINDOW;
            lists.push(vec![Filter::BitWidthReduction { max_window }, ZSTD]);
        }
    }
    lists
}

/// Returns alternatives to a filter list. Checksums stay before or after the other filters.
pub(super) fn of(own: &FilterPipeline, datatype: Datatype, is_var: bool) -> Vec<FilterPipeline> {
    // The user has chosen lossy filters, image filters, encryption and unknown filters on purpose.
    let is_chosen = |filter: &Filter| {
        matches!(filter, Filter::FloatScale { .. } | Filter::WebP(_) | Filter::Unknown { .. } | Filter::Aes256Gcm)
    };
    if own.filters.iter().any(is_chosen) {
        return Vec::new();
    }
    let is_sum = |filter: &&Filter| matches!(filter, Filter::Md5 | Filter::Sha256);
    let before: Vec<Filter> = own.filters.iter().take_while(is_sum).cloned().collect();
    let behind: Vec<Filter> = own.filters[before.len()..].iter().filter(is_sum).cloned().collect();
    let lists = bare(datatype, is_var).into_iter();
    let lists = lists.map(|list| {
        let filters = before.iter().cloned().chain(list).chain(behind.iter().cloned()).collect();
        FilterPipeline { filters, ..own.clone() }
    });
    lists.filter(|list| list != own).collect()
}
