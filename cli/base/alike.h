/* cli/base/alike.h - "did you mean": words that somebody may have meant. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* How many letters have to be added, removed, changed or swapped with their neighbour; most + 1 when it is more. */
size_t cli_alike_distance(const char *a, const char *b, size_t most);

/* The best of many words that come one by one. */
typedef struct cli_alike {
	const char *word; /* that was given */
	const char *best; /* borrowed; NULL: none is near */
	size_t distance;  /* of the best */
} cli_alike;

void cli_alike_try(cli_alike *alike, const char *word);
/* " (did you mean <best>?)", or "". */
#define CLI_ALIKE_TEXT 160
void cli_alike_ask(const cli_alike *alike, char out[CLI_ALIKE_TEXT]);
