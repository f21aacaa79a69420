/* cli/base/text.h - text from outside, made safe to show; numbers as text. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many of the bytes at p are one valid character; 0 when they are none. */
size_t cli_text_char(const char *p, size_t len);

/* Writes one character, or one byte that is none, as it may stand on a terminal: control characters (C1 and the marks
 * that turn the direction of text among them) and stray bytes as \xNN, \n, \t..., a backslash doubled. Returns the
 * bytes written to out, and in *taken the bytes read. */
#define CLI_TEXT_SAFE 17
size_t cli_text_safe(const char *p, size_t len, size_t *taken, char out[CLI_TEXT_SAFE]);
/* How the character of n bytes (cli_text_char()) stands in JSON that may be shown on a terminal: as it is, 0, or as
 * an escape, its length. Control characters below U+0020 are not asked about: JSON has none as they are. */
#define CLI_TEXT_ESCAPE 13
size_t cli_text_escape(const char *p, size_t n, char out[CLI_TEXT_ESCAPE]);

/* A time as models tell it, decimal milliseconds since 1970, as a date; false: it is none. */
#define CLI_TEXT_TIME 32
bool cli_text_time(const char *milliseconds, char out[CLI_TEXT_TIME]);

/* Columns that the text takes on a terminal, a character counting as one. */
size_t cli_text_width(const char *text);

/* Appends to the text in a buffer of so many bytes, with between before it unless it is the first; what does not fit is
 * left out. */
void cli_text_join(char *out, size_t room, const char *between, const char *text);

/* What stands after the word for that many: "" or "s". */
const char *cli_text_plural(uint64_t count);

/* "17 B", "3.2 MiB". */
#define CLI_TEXT_SIZE 24
void cli_text_size(uint64_t bytes, char out[CLI_TEXT_SIZE]);

/* "1234", "12.3K", "1.24M", "8.03B": how many, as people say it. */
#define CLI_TEXT_COUNT 24
void cli_text_count(uint64_t count, char out[CLI_TEXT_COUNT]);

/* The shortest decimal that reads back as the same number of that width; "nan", "inf", "-inf". */
#define CLI_TEXT_NUMBER 32
void cli_text_f64(double v, char out[CLI_TEXT_NUMBER]);
void cli_text_f32(float v, char out[CLI_TEXT_NUMBER]);

/* A number of digits alone, and what stands behind it; false: there is none, or it is too large. */
bool cli_text_digits(const char *text, uint64_t *out, const char **end);

/* Does whoever started us read UTF-8? By LC_ALL, LC_CTYPE and LANG. */
bool cli_text_unicode(void);
