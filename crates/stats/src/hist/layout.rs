//! The bins of a histogram of microseconds with three significant digits.
//!
//! The layout of HdrHistogram with lowest value 1 and 3 digits. Below 2 048 every value has its own bin. Above, each
//! doubling is divided into 1 024 bins, so a bin is never wider than 1/1 024 of its value. Both directions cost a few
//! shifts.

const SUB_BITS: u32 = 11;
const HALF: u64 = 1 << (SUB_BITS - 1);

/// Maximum value: 2^36 - 1 µs, about 19 hours. Larger values are counted as this value.
pub const MAX_VALUE: u64 = (1 << 36) - 1;
/// Number of bins of the layout.
pub const BINS: u32 = index_of(MAX_VALUE) + 1;

/// Returns the bin of a value.
#[inline]
pub const fn index_of(value: u64) -> u32 {
    let value = if value > MAX_VALUE { MAX_VALUE } else { value };
    let bits = 64 - (value | (2 * HALF - 1)).leading_zeros();
    let shift = bits - SUB_BITS;
    (shift as u64 * HALF + (value >> shift)) as u32
}

const fn shift_of(index: u32) -> u32 {
    let octave = index / HALF as u32;
    if octave == 0 { 0 } else { octave - 1 }
}

/// Returns the smallest value in a bin.
pub const fn lowest_of(index: u32) -> u64 {
    let shift = shift_of(index);
    (index as u64 - shift as u64 * HALF) << shift
}

/// Returns the largest value in a bin.
pub const fn highest_of(index: u32) -> u64 {
    lowest_of(index) + (1 << shift_of(index)) - 1
}

/// Returns the middle of a bin, used for means.
pub const fn middle_of(index: u32) -> u64 {
    lowest_of(index) + ((1 << shift_of(index)) >> 1)
}
