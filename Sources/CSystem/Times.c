#define _GNU_SOURCE
#include "CSystem.h"

#include <locale.h>
#include <string.h>
#include <time.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

// The names of days and months are English, whatever the locale of the process is.

static unsigned long format_parts(const struct tm *parts, const char *format, char *text, unsigned long size) {
  locale_t english = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  unsigned long length = strftime_l(text, size, format, parts, english);
  freelocale(english);
  return length;
}

unsigned long csystem_format_time(int64_t seconds, const char *format, char *text, unsigned long size) {
  time_t time = seconds;
  struct tm parts;
  return gmtime_r(&time, &parts) ? format_parts(&parts, format, text, size) : 0;
}

int csystem_parse_time(const char *text, const char *format, int64_t *seconds) {
  struct tm parts = {0};
  locale_t english = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  const char *end = strptime_l(text, format, &parts, english);
  freelocale(english);
  char again[64];
  // Other spellings of the same time are refused: a blank too many, or a digit too few.
  if (!end || *end || !format_parts(&parts, format, again, sizeof again) || strcmp(again, text)) return -1;
  int day = parts.tm_mday;
  *seconds = timegm(&parts);
  // A day beyond the end of the month is in the next one now.
  return parts.tm_mday == day ? 0 : -1;
}
