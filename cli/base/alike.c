#include "base/alike.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MOST_LETTERS = 128 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

size_t cli_alike_distance(const char *a, const char *b, size_t most)
{
	size_t m = strlen(a), n = strlen(b), rows[3][MOST_LETTERS + 1];
	if (m > MOST_LETTERS || n > MOST_LETTERS || (m > n ? m - n : n - m) > most)
		return most + 1;
	size_t *before = rows[0], *last = rows[1], *now = rows[2];
	for (size_t k = 0; k <= n; k++)
		last[k] = before[k] = k;
	for (size_t i = 1; i <= m; i++) {
		now[0] = i;
		for (size_t k = 1; k <= n; k++) {
			bool same = a[i - 1] == b[k - 1];
			now[k] = least(least(last[k] + 1, now[k - 1] + 1), last[k - 1] + !same);
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1])
				now[k] = least(now[k], before[k - 2] + 1);
		}
		size_t *free_row = before;
		before = last;
		last = now;
		now = free_row;
	}
	return least(last[n], most + 1);
}

void cli_alike_try(cli_alike *alike, const char *word)
{
	size_t len = strlen(alike->word), most = len < 4 ? 1 : len < 8 ? 2 : 3;
	if (alike->best && alike->distance <= most)
		most = alike->distance ? alike->distance - 1 : 0;
	if (alike->best && !alike->distance)
		return;
	size_t distance = cli_alike_distance(alike->word, word, most);
	if (distance <= most) {
		alike->best = word;
		alike->distance = distance;
	}
}

void cli_alike_ask(const cli_alike *alike, char out[CLI_ALIKE_TEXT])
{
	out[0] = 0;
	if (alike->best)
		(void)snprintf(out, CLI_ALIKE_TEXT, " (did you mean %.128s?)", alike->best);
}
