#include "base/advice.h"

#include <stdio.h>
#include <string.h>

#define ELSEWHERE "" /* what helps is another command, or another value of an option */

static const struct advice {
	const char *reason; /* NULL: any */
	const char *about;  /* words of the message, where one reason has several causes; NULL: any */
	const char *option; /* of the command; NULL: none helps */
	const char *text;
} advices[] = {
	{"exists", "holds a set of rows", ELSEWHERE, "sherd rows append adds to it"},
	{"not-found", "no set of rows is there", ELSEWHERE, "sherd rows pack begins one"},
	{"unknown-format", "rows can be appended", ELSEWHERE, "sherd rows pack makes one of this"},
	{"no-manifest", "the set has no manifest", ELSEWHERE, "sherd rows index makes one"},
	{"no-checksum", "no manifest has checksums of these rows", ELSEWHERE, "sherd rows index writes one"},
	{NULL, "a new manifest can be made of the shards", ELSEWHERE, "sherd rows index --replace makes it"},
	{"conflict", "is writing into the set, or died", "replace", "--replace takes over from a writer that died"},
	{"exists", "the set has a manifest", "replace", "--replace makes a new one"},
	{"bad-dtype", "is U16", "dtype", "--dtype bf16 takes its bits as BF16"},
	{"exists", "nothing to repair", NULL, NULL},
	{"given-up", NULL, ELSEWHERE, "sherd graph gc removes it, or gc --untag where it may be tagged"},
	{"exists", NULL, "replace", "--replace replaces it"},
	{"clash", "source", "prefer", "--prefer first or --prefer last chooses one"},
	{"conflict", "held by", "take-over", "--take-over goes ahead all the same"},
	{"conflict", "taking over", "take-over", "--take-over"},
	{"orphans", NULL, "take-over",
         "sherd checkpoint repair may publish them; --take-over removes them once the new set is there"},
	{"waiting", NULL, "take-over", "--take-over, or sherd checkpoint prune --waiting-older-than, gives it up"},
	{"waiting", NULL, ELSEWHERE, "sherd checkpoint prune --waiting-older-than gives it up"},
	{"replica-mismatch", "is published", ELSEWHERE, "save again by another --set-id, with --take-over"},
	{"ranks-disagree", NULL, ELSEWHERE, "all ranks must say the same; another --set-id begins a new set"},
	{"conflict", "this rank saved", ELSEWHERE, "another --set-id begins a new set"},
	{"conflict", "this rank described", ELSEWHERE, "another --set-id begins a new set"},
	{"other-source", "cut otherwise", ELSEWHERE, "all ranks give the same --cut, or none does"},
	{"other-source", "this one saves", "split", "--split does as they do"},
	{"other-source", "this one cuts", ELSEWHERE, "without --split it does as they do"},
	{"timed-out", "only the commit", ELSEWHERE, "sherd checkpoint commit publishes them"},
	{"two-sets", NULL, "set-id", "--set-id chooses one"},
	{NULL, "cannot be rebuilt", ELSEWHERE, "sherd checkpoint load --partial reads it"},
	{"diverged", NULL, "replace", "--replace goes ahead all the same"},
	{"cannot-hold", "cannot hold the graph", "drop-graph", "--drop-graph accepts that"},
	{"cannot-hold", "pairs", "drop-metadata", "--drop-metadata leaves them out"},
};

void cli_advise(const cli_args *args, sherd_error *err)
{
	for (size_t i = 0; err->reason && i < COUNT_OF(advices); i++) {
		const struct advice *a = &advices[i];
		size_t used = strlen(err->message);
		char option[32];
		if ((a->reason && strcmp(a->reason, err->reason) != 0) || (a->about && !strstr(err->message, a->about)))
			continue;
		if (!a->option)
			return;
		(void)snprintf(option, sizeof(option), "--%s", a->option);
		bool helps = !*a->option || (cli_command_takes(args->command, a->option) &&
		                             !cli_args_has(args, a->option) && !strstr(err->message, option));
		if (!helps || (used && err->message[used - 1] == ')'))
			continue;
		(void)snprintf(err->message + used, sizeof(err->message) - used, " (%s)", a->text);
		return;
	}
}
