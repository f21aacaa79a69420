#include "engine/tensors/rename.h"

#include <regex.h>
#include <stdlib.h>

enum { GROUPS = 10, MOST_NAME = 64 << 10 };

typedef struct rename_rule {
	regex_t pattern;
	char *to;
	bool all; /* every place that fits, not the first alone */
} rename_rule;

struct shd_renames {
	size_t count; /* of rules that are compiled */
	rename_rule rules[];
};

void shd_renames_close(shd_renames *renames)
{
	for (size_t i = 0; renames && i < renames->count; i++) {
		regfree(&renames->rules[i].pattern);
		free(renames->rules[i].to);
	}
	free(renames);
}

/* The text up to the next delimiter, which a backslash takes its meaning from; NULL when there is none. */
static char *take_part(const char **at, char delimiter, sherd_error *err)
{
	SHD_AUTO_BUF part = {0};
	const char *p = *at;
	for (; *p && *p != delimiter; p++) {
		if (*p == '\\' && p[1] == delimiter)
			p++;
		else if (*p == '\\' && p[1])
			shd_buf_u8(&part, (uint8_t)*p++);
		shd_buf_u8(&part, (uint8_t)*p);
	}
	if (!*p) {
		(void)shd_fail(err, SHERD_EINVAL, "bad-argument", "a rename is s/A/B/ or s/A/B/g");
		return NULL;
	}
	*at = p + 1;
	char *text = shd_buf_take(&part);
	if (!text)
		(void)shd_fail_nomem(err);
	return text;
}

static int rename_compile(rename_rule *rule, const char *text, sherd_error *err)
{
	const char *at = text + 2;
	char why[128];
	sherd_error failure = {0};
	if (text[0] != 's' || !text[1] || text[1] == '\\')
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "a rename is s/A/B/ or s/A/B/g, not '%.80s'", text);
	SHD_AUTO_FREE char *from = take_part(&at, text[1], &failure);
	SHD_AUTO_FREE char *to = from ? take_part(&at, text[1], &failure) : NULL;
	if (!to)
		return shd_pass(err, (int)failure.code, &failure);
	if (strcmp(at, "") != 0 && strcmp(at, "g") != 0)
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "after s/A/B/ comes g or nothing, not '%.80s'", at);
	int rc = regcomp(&rule->pattern, from, REG_EXTENDED);
	if (rc == REG_ESPACE)
		return shd_fail_nomem(err);
	if (rc) {
		(void)regerror(rc, &rule->pattern, why, sizeof(why));
		return shd_fail(err, SHERD_EINVAL, "bad-argument", "'%.80s' is no regular expression: %s", from, why);
	}
	rule->to = TAKE(to);
	rule->all = *at == 'g';
	return SHERD_OK;
}

int shd_renames_open(shd_renames **out, const char *const *texts, size_t count, sherd_error *err)
{
	SHD_AUTO(shd_renames, shd_renames_close) all = calloc(1, sizeof(*all) + count * sizeof(all->rules[0]));
	if (!all)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < count; i++) {
		int rc = rename_compile(&all->rules[i], texts[i], err);
		TRY(shd_at_index(err, rc, i));
		all->count++;
	}
	*out = TAKE(all);
	return SHERD_OK;
}

static void put_group(const char *at, const regmatch_t *group, shd_buf *out)
{
	if (group->rm_so >= 0)
		shd_buf_append(out, at + group->rm_so, (size_t)(group->rm_eo - group->rm_so));
}

static void put_replacement(const char *to, const char *at, const regmatch_t *groups, shd_buf *out)
{
	for (; *to; to++) {
		if (*to == '&')
			put_group(at, &groups[0], out);
		else if (*to == '\\' && to[1] >= '0' && to[1] <= '9')
			put_group(at, &groups[*++to - '0'], out);
		else {
			to += *to == '\\' && to[1];
			shd_buf_u8(out, (uint8_t)*to);
		}
	}
}

static void apply_rule(const rename_rule *rule, const char *name, shd_buf *out)
{
	regmatch_t groups[GROUPS];
	const char *at = name;
	for (int flags = 0; regexec(&rule->pattern, at, GROUPS, groups, flags) == 0; flags = REG_NOTBOL) {
		shd_buf_append(out, at, (size_t)groups[0].rm_so);
		put_replacement(rule->to, at, groups, out);
		bool empty = groups[0].rm_so == groups[0].rm_eo;
		at += groups[0].rm_eo;
		if (empty && *at)
			shd_buf_u8(out, (uint8_t)*at++); /* so that it ends */
		else if (empty)
			break;
		if (!rule->all || out->failed || out->len > MOST_NAME)
			break;
	}
	shd_buf_str(out, at);
}

int shd_renames_apply(const shd_renames *renames, const char *name, shd_buf *out, sherd_error *err)
{
	shd_buf_append(out, name, strlen(name) + 1);
	for (size_t i = 0; i < renames->count; i++) {
		SHD_AUTO_BUF next = {0};
		TRY(shd_buf_check(out, err));
		apply_rule(&renames->rules[i], (const char *)out->data, &next);
		if (next.len > MOST_NAME)
			return shd_fail(err, SHERD_EINVAL, "name-too-long", "the new name of '%.80s' is too long",
			                name);
		out->len = 0;
		shd_buf_append(out, next.data, next.len);
		shd_buf_u8(out, 0);
		out->failed |= next.failed;
	}
	return shd_buf_check(out, err);
}
