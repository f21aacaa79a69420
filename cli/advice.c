#include "advice.h"

#include <stdio.h>
#include <string.h>

static const struct advice {
	const char *reason;
	const char *about;  /* a word of the message, where one reason has several causes; NULL: any */
	const char *option; /* NULL: none helps */
	const char *text;
} advices[] = {
	{"exists", "nothing to repair", NULL, NULL},
	{"exists", NULL, "replace", "--replace replaces it"},
	{"conflict", "held by", "take-over", "--take-over goes ahead all the same"},
	{"orphans", NULL, "take-over",
         "sherd checkpoint repair may publish them; --take-over removes them once the new set is there"},
	{"waiting", NULL, "take-over", "--take-over, or sherd checkpoint prune --waiting-older-than, gives it up"},
	{"cannot-hold", "pairs", "drop-metadata", "--drop-metadata leaves them out"},
};

void sherd_advise(const sherd_args *args, sherd_error *err)
{
	for (size_t i = 0; err->reason && i < COUNT_OF(advices); i++) {
		const struct advice *a = &advices[i];
		size_t used = strlen(err->message);
		char option[32];
		if (strcmp(a->reason, err->reason) != 0 || (a->about && !strstr(err->message, a->about)))
			continue;
		if (!a->option)
			return;
		(void)snprintf(option, sizeof(option), "--%s", a->option);
		if (!sherd_command_takes(args->command, a->option) || sherd_args_has(args, a->option) ||
		    strstr(err->message, option) || (used && err->message[used - 1] == ')'))
			continue;
		(void)snprintf(err->message + used, sizeof(err->message) - used, " (%s)", a->text);
		return;
	}
}
