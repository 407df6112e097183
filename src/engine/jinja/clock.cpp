#include "engine/jinja/clock.h"

#include <array>
#include <charconv>
#include <chrono>
#include <ctime>

namespace weft::jinja {
namespace {

constexpr std::array<std::string_view, 7> day_names = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                       "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> month_names = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};

std::chrono::year_month_day date_of(const WallTime& time) {
  return std::chrono::year(time.year) / std::chrono::month(static_cast<unsigned>(time.month)) /
         std::chrono::day(static_cast<unsigned>(time.day));
}

// A week of ISO 8601: weeks begin on Monday, and week 1 contains the first Thursday of the year.
struct IsoWeek {
  int year, week;
};
IsoWeek iso_week(const WallTime& time) {
  const auto days = std::chrono::sys_days(date_of(time));
  const int weekday = (time.day_of_week() + 6) % 7;  // Monday is 0.
  const std::chrono::year_month_day thursday(days + std::chrono::days(3 - weekday));
  const auto year_begin = std::chrono::sys_days(thursday.year() / std::chrono::January / 1);
  return {static_cast<int>(thursday.year()),
          static_cast<int>((std::chrono::sys_days(thursday) - year_begin).count()) / 7 + 1};
}

std::string padded(int value, int width, char fill) {
  std::string digits = std::to_string(value);
  while (static_cast<int>(digits.size()) < width) digits.insert(digits.begin(), fill);
  return digits;
}

// Appends the field for one letter after '%'. Returns false for an unknown letter.
bool append_field(std::string& out, char letter, char flag, const WallTime& time) {
  const auto number = [&](int value, int width, char fill = '0') {
    if (flag == '-') width = 1;
    if (flag == '_') fill = ' ';
    if (flag == '0') fill = '0';
    out += padded(value, width, fill);
    return true;
  };
  const auto text = [&](std::string_view value) {
    out += value;
    return true;
  };
  const auto form = [&](std::string_view format) {
    out += format_time(format, time);
    return true;
  };
  const int hour12 = time.hour % 12 == 0 ? 12 : time.hour % 12;
  const int weekday = time.day_of_week();
  const auto day_name = day_names[static_cast<std::size_t>(weekday)];
  const auto month_name = month_names[static_cast<std::size_t>(time.month - 1)];
  switch (letter) {
    case 'Y':
      return number(time.year, 1);
    case 'C':
      return number(time.year / 100, 2);
    case 'y':
      return number(time.year % 100, 2);
    case 'm':
      return number(time.month, 2);
    case 'd':
      return number(time.day, 2);
    case 'e':
      return number(time.day, 2, ' ');
    case 'H':
      return number(time.hour, 2);
    case 'k':
      return number(time.hour, 2, ' ');
    case 'I':
      return number(hour12, 2);
    case 'l':
      return number(hour12, 2, ' ');
    case 'M':
      return number(time.minute, 2);
    case 'S':
      return number(time.second, 2);
    case 'f':
      return number(0, 6);  // Microseconds are an addition of Python to strftime.
    case 'j':
      return number(time.day_of_year(), 3);
    case 'u':
      return number(weekday == 0 ? 7 : weekday, 1);
    case 'w':
      return number(weekday, 1);
    case 'U':
      return number((time.day_of_year() + 6 - weekday) / 7, 2);
    case 'W':
      return number((time.day_of_year() + 6 - (weekday + 6) % 7) / 7, 2);
    case 'V':
      return number(iso_week(time).week, 2);
    case 'G':
      return number(iso_week(time).year, 1);
    case 'g':
      return number(iso_week(time).year % 100, 2);
    case 'A':
      return text(day_name);
    case 'a':
      return text(day_name.substr(0, 3));
    case 'B':
      return text(month_name);
    case 'b':
    case 'h':
      return text(month_name.substr(0, 3));
    case 'p':
      return text(time.hour < 12 ? "AM" : "PM");
    case 'P':
      return text(time.hour < 12 ? "am" : "pm");
    case 'n':
      return text("\n");
    case 't':
      return text("\t");
    case '%':
      return text("%");
    case 'Z':
    case 'z':
      return true;  // Empty, because the time has no zone, as in Python.
    case 'F':
      return form("%Y-%m-%d");
    case 'T':
    case 'X':
      return form("%H:%M:%S");
    case 'R':
      return form("%H:%M");
    case 'r':
      return form("%I:%M:%S %p");
    case 'D':
    case 'x':
      return form("%m/%d/%y");
    case 'c':
      return form("%a %b %e %H:%M:%S %Y");
    default:
      return false;
  }
}

}  // namespace

Result<WallTime> WallTime::parse(std::string_view text) {
  WallTime time;
  const auto refuse = [&] {
    return fail(ErrorCode::invalid_argument, "'{}' is not a time; 2026-01-02T03:04:05 is one.",
                text);
  };
  std::string_view rest = text;
  const auto take = [&](std::size_t digits, int& value) {
    if (rest.size() < digits || rest[0] == '-') return false;
    const char* const begin = rest.data();
    const char* const end = begin + digits;
    if (std::from_chars(begin, end, value).ptr != end) return false;
    rest.remove_prefix(digits);
    return true;
  };
  const auto pass = [&](std::string_view any) {
    if (rest.empty() || any.find(rest[0]) == std::string_view::npos) return false;
    rest.remove_prefix(1);
    return true;
  };
  if (!take(4, time.year) || !pass("-") || !take(2, time.month) || !pass("-") || !take(2, time.day))
    return refuse();
  if (!rest.empty()) {
    if (!pass("T ") || !take(2, time.hour) || !pass(":") || !take(2, time.minute)) return refuse();
    if (!rest.empty() && (!pass(":") || !take(2, time.second))) return refuse();
  }
  if (!rest.empty() || time.hour > 23 || time.minute > 59 || time.second > 59 ||
      !date_of(time).ok())
    return refuse();
  return time;
}

WallTime WallTime::of_unix(std::int64_t seconds) {
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const auto rest = static_cast<int>((time - day).count());
  return {.year = static_cast<int>(date.year()),
          .month = static_cast<int>(static_cast<unsigned>(date.month())),
          .day = static_cast<int>(static_cast<unsigned>(date.day())),
          .hour = rest / 3600,
          .minute = rest / 60 % 60,
          .second = rest % 60};
}

WallTime WallTime::local_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  localtime_r(&now, &parts);
  return {.year = parts.tm_year + 1900,
          .month = parts.tm_mon + 1,
          .day = parts.tm_mday,
          .hour = parts.tm_hour,
          .minute = parts.tm_min,
          .second = std::min(parts.tm_sec, 59)};
}

int WallTime::day_of_year() const {
  const auto begin = std::chrono::sys_days(std::chrono::year(year) / std::chrono::January / 1);
  return static_cast<int>((std::chrono::sys_days(date_of(*this)) - begin).count()) + 1;
}
int WallTime::day_of_week() const {
  return static_cast<int>(std::chrono::weekday(std::chrono::sys_days(date_of(*this))).c_encoding());
}

std::string format_time(std::string_view format, const WallTime& time) {
  std::string out;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format[at] != '%' || at + 1 == format.size()) {
      out.push_back(format[at]);
      continue;
    }
    const bool has_flag =
        std::string_view("-_0^#").find(format[at + 1]) != std::string_view::npos &&
        at + 2 < format.size();
    const char letter = format[at + (has_flag ? 2 : 1)];
    std::string field;
    if (append_field(field, letter, has_flag ? format[at + 1] : '\0', time)) {
      if (has_flag && format[at + 1] == '^')
        for (char& c : field) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
      out += field;
    } else {
      out += format.substr(at, has_flag ? 3 : 2);
    }
    at += has_flag ? 2 : 1;
  }
  return out;
}

}  // namespace weft::jinja
