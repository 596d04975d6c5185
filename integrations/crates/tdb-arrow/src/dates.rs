//! Units of dates and times, and conversion between them.

use arrow_schema::{DataType, TimeUnit};
use tdb_array::tdb_types::Datatype;

/// Unit of a date or time. Dates count from 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Year,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    Milli,
    Micro,
    Nano,
    Pico,
    Femto,
    Atto,
}

/// "No time" (NaT) in TileDB and NumPy.
pub(crate) const NO_TIME: i64 = i64::MIN;

/// Days in 400 years, after which the calendar repeats.
const CYCLE_DAYS: i128 = 146_097;
/// Days from 0000-03-01 to 1970-01-01.
const EPOCH: i128 = 719_468;

impl Unit {
    /// Returns the unit of a date or time datatype.
    pub(crate) fn of(datatype: Datatype) -> Option<Self> {
        use Datatype as D;
        Some(match datatype {
            D::DatetimeYear => Self::Year,
            D::DatetimeMonth => Self::Month,
            D::DatetimeWeek => Self::Week,
            D::DatetimeDay => Self::Day,
            D::DatetimeHr | D::TimeHr => Self::Hour,
            D::DatetimeMin | D::TimeMin => Self::Minute,
            D::DatetimeSec | D::TimeSec => Self::Second,
            D::DatetimeMs | D::TimeMs => Self::Milli,
            D::DatetimeUs | D::TimeUs => Self::Micro,
            D::DatetimeNs | D::TimeNs => Self::Nano,
            D::DatetimePs | D::TimePs => Self::Pico,
            D::DatetimeFs | D::TimeFs => Self::Femto,
            D::DatetimeAs | D::TimeAs => Self::Atto,
            _ => return None,
        })
    }

    /// Returns the unit of an Arrow date (`is_date`), or of an Arrow time of day or duration.
    pub(crate) fn of_arrow(data_type: &DataType, is_date: bool) -> Option<Self> {
        let unit = |unit: &TimeUnit| match unit {
            TimeUnit::Second => Self::Second,
            TimeUnit::Millisecond => Self::Milli,
            TimeUnit::Microsecond => Self::Micro,
            TimeUnit::Nanosecond => Self::Nano,
        };
        match data_type {
            DataType::Date32 if is_date => Some(Self::Day),
            DataType::Date64 if is_date => Some(Self::Milli),
            DataType::Timestamp(of, _) if is_date => Some(unit(of)),
            DataType::Time32(of) | DataType::Time64(of) | DataType::Duration(of) if !is_date => Some(unit(of)),
            _ => None,
        }
    }

    /// Returns the attoseconds per unit. Returns `None` for months and years, which vary in length.
    fn attoseconds(self) -> Option<i128> {
        let second = 10_i128.pow(18);
        Some(match self {
            Self::Year | Self::Month => return None,
            Self::Week => 7 * 86_400 * second,
            Self::Day => 86_400 * second,
            Self::Hour => 3600 * second,
            Self::Minute => 60 * second,
            Self::Second => second,
            Self::Milli => 10_i128.pow(15),
            Self::Micro => 10_i128.pow(12),
            Self::Nano => 10_i128.pow(9),
            Self::Pico => 10_i128.pow(6),
            Self::Femto => 1000,
            Self::Atto => 1,
        })
    }

    /// Converts a number to another unit.
    pub(crate) fn convert(self, value: i64, to: Self) -> Converted {
        let value = i128::from(value);
        let converted = match (self, to) {
            (from, to) if from == to => Ok(value),
            (Self::Year, Self::Month) => Ok(value * 12),
            (Self::Month, Self::Year) => whole(value, 12),
            (Self::Year, to) => return Self::Month.months(value * 12, to),
            (Self::Month, to) => return Self::Month.months(value, to),
            (from, Self::Year) => return from.to_months(value, 12),
            (from, Self::Month) => return from.to_months(value, 1),
            (from, to) => from.rescaled(value, to),
        };
        converted.map_or_else(|why| why, Converted::of)
    }

    /// Converts the first day of a month to a unit of fixed length.
    fn months(self, months: i128, to: Self) -> Converted {
        Self::Day.rescaled(days_before(months), to).map_or_else(|why| why, Converted::of)
    }

    /// Converts to a multiple of `each` months. `NotWhole` unless the value is the first day of
    /// such a period.
    fn to_months(self, value: i128, each: i128) -> Converted {
        let months = self.rescaled(value, Self::Day).and_then(|days| {
            let months = month_of(days);
            if days_before(months) == days { whole(months, each) } else { Err(Converted::NotWhole) }
        });
        months.map_or_else(|why| why, Converted::of)
    }

    /// Converts between units of fixed length.
    fn rescaled(self, value: i128, to: Self) -> Result<i128, Converted> {
        let (Some(from), Some(to)) = (self.attoseconds(), to.attoseconds()) else { return Err(Converted::OutOfRange) };
        if from >= to { value.checked_mul(from / to).ok_or(Converted::OutOfRange) } else { whole(value, to / from) }
    }
}

fn whole(value: i128, divisor: i128) -> Result<i128, Converted> {
    if value % divisor == 0 { Ok(value / divisor) } else { Err(Converted::NotWhole) }
}

/// Result of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Converted {
    To(i64),
    /// The value is between two values of the target unit.
    NotWhole,
    /// The value overflows the target unit.
    OutOfRange,
}

impl Converted {
    fn of(value: i128) -> Self {
        i64::try_from(value).map_or(Self::OutOfRange, Self::To)
    }
}

/// Days from 1970-01-01 to the first day of a month, given in months since January 1970.
fn days_before(months: i128) -> i128 {
    // Years start in March here. The leap day is the last day.
    let march = months + 1970 * 12 - 2;
    let (year, month) = (march.div_euclid(12), march.rem_euclid(12));
    let (cycle, year) = (year.div_euclid(400), year.rem_euclid(400));
    cycle * CYCLE_DAYS + year * 365 + year / 4 - year / 100 + (153 * month + 2) / 5 - EPOCH
}

/// Returns the month of a day, in months since January 1970.
fn month_of(days: i128) -> i128 {
    // The estimate by the mean month length is off by at most one month.
    let mut month = days * 4800 / CYCLE_DAYS;
    while days_before(month) > days {
        month -= 1;
    }
    while days_before(month + 1) <= days {
        month += 1;
    }
    month
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_convert_to_calendar_days() {
        for (months, days) in [(0, 0), (1, 31), (2, 59), (-1, -31), (12, 365), (25 * 12, 9131), (30 * 12 + 2, 11_017)] {
            assert_eq!(days_before(months), days, "{months}");
        }
        // 1900-03-01 (1900 has no leap day), and 0000-01-01 in the proleptic calendar.
        assert_eq!(days_before(-70 * 12 + 2), -25_508);
        assert_eq!(days_before(-1970 * 12), -719_528);
        for months in (-60_000..60_000).step_by(7) {
            let first = days_before(months);
            assert_eq!(month_of(first), months);
            assert_eq!(month_of(first - 1), months - 1);
        }
    }

    #[test]
    fn unit_conversions_are_exact() {
        assert_eq!(Unit::Week.convert(-3, Unit::Day), Converted::To(-21));
        assert_eq!(Unit::Day.convert(-20, Unit::Week), Converted::NotWhole);
        assert_eq!(Unit::Year.convert(30, Unit::Day), Converted::To(10_957));
        assert_eq!(Unit::Day.convert(10_957, Unit::Year), Converted::To(30));
        assert_eq!(Unit::Day.convert(10_958, Unit::Year), Converted::NotWhole);
        assert_eq!(Unit::Day.convert(10_957 + 31, Unit::Year), Converted::NotWhole);
        assert_eq!(Unit::Month.convert(361, Unit::Day), Converted::To(10_988));
        assert_eq!(Unit::Hour.convert(i64::MAX, Unit::Second), Converted::OutOfRange);
        assert_eq!(Unit::Week.convert(i64::MAX, Unit::Atto), Converted::OutOfRange);
        assert_eq!(Unit::Year.convert(i64::MAX, Unit::Day), Converted::OutOfRange);
        assert_eq!(Unit::Nano.convert(1_000_000, Unit::Milli), Converted::To(1));
    }
}
