//! Random cases of conformance, and what runs them on both sides.
//!
//! * [`runner`], [`tally`], [`verdict`]: run cases of any kind, several at the same time, and count what comes of them;
//! * [`generate`]: cases from random numbers; everything is settled before anything is run;
//! * [`history`], [`entries`], [`scalars`]: plain data of cases: what happens to an array, metadata, single values;
//! * [`build`]: our definition of what a case describes;
//! * [`print`](mod@print) and [`shrink`]: cases as readable and as small as they can be made;
//! * [`writer`]: which releases make the arrays; [`ours`] makes and reads them with our library;
//! * [`reads`] compares what one question gives; [`compare`] says what differs;
//! * [`selection`]: points, boxes and ranges without an end; [`evaluation`] says which cells they hold;
//! * [`place`]: where arrays lie, in folders or on a store;
//! * [`overhang`]: arrays in whose last tile the library crashes;
//! * [`defects`]: what the library is known to get wrong; [`limits`]: what older releases can't do.
#![forbid(unsafe_code)]

pub mod build;
pub mod case;
pub mod compare;
pub mod coverage;
pub mod defects;
pub mod entries;
pub mod evaluation;
pub mod generate;
pub mod history;
pub mod limits;
pub mod make_ours;
pub mod ours;
pub mod overhang;
pub mod place;
pub mod print;
pub mod random;
pub mod reads;
pub mod runner;
pub mod scalars;
pub mod selection;
pub mod shrink;
pub mod tally;
pub mod their_errors;
pub mod values;
pub mod verdict;
pub mod writer;
