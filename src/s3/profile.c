#include "profile.h"

#include <sherd/sys/backend.h>

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_ROOM = 8192 };

typedef struct profile_line {
	char *name, *value;
} profile_line;

struct shd_s3_profile {
	profile_line *lines;
	size_t count;
	bool found;
};

static char *profile_trim(char *text)
{
	text += strspn(text, " \t");
	size_t len = strlen(text);
	while (len > 0 && isspace((unsigned char)text[len - 1]))
		text[--len] = 0;
	return text;
}

static int add_line(shd_s3_profile *p, const char *outer, const char *name, const char *value)
{
	profile_line *lines = realloc(p->lines, (p->count + 1) * sizeof(*lines)), line = {0};
	if (!lines)
		return SHERD_ENOMEM;
	p->lines = lines;
	line.value = strdup(value);
	if (asprintf(&line.name, "%s%s%s", outer, *outer ? "." : "", name) < 0)
		line.name = NULL;
	lines[p->count++] = line;
	return line.name && line.value ? SHERD_OK : SHERD_ENOMEM;
}

/* "[name]", or "[profile name]" as the config file has it. */
static bool is_section(char *line, const char *name)
{
	line[strcspn(line, "]")] = 0;
	char *title = profile_trim(line + 1);
	if (strncmp(title, "profile", 7) == 0 && (title[7] == ' ' || title[7] == '\t'))
		title = profile_trim(title + 7);
	return strcmp(title, name) == 0;
}

static int read_lines(shd_s3_profile *p, FILE *file, const char *name)
{
	char *line = malloc(LINE_ROOM), outer[64] = ""; /* so that none is moved as it grows */
	size_t room = line ? LINE_ROOM : 0;
	bool inside = false;
	int rc = SHERD_OK;
	while (rc == SHERD_OK && getline(&line, &room, file) >= 0) {
		bool indented = *line == ' ' || *line == '\t';
		char *text = profile_trim(line);
		char *equals = strchr(text, '=');
		if (*text == '[') {
			inside = is_section(text, name);
			p->found = p->found || inside;
		} else if (inside && equals && *text != '#' && *text != ';') {
			*equals = 0;
			char *key = profile_trim(text), *value = profile_trim(equals + 1);
			if (!indented)
				(void)snprintf(outer, sizeof(outer), "%s", *value ? "" : key);
			rc = add_line(p, indented ? outer : "", key, value);
		}
	}
	if (line)
		explicit_bzero(line, room);
	free(line);
	return rc;
}

static int read_shared(shd_s3_profile *p, const char *variable, const char *usual, const char *name, sherd_error *err)
{
	const char *path = getenv(variable), *home = getenv("HOME");
	char *made = NULL;
	if (!path || !*path) {
		if (!home || asprintf(&made, "%s/%s", home, usual) < 0)
			return SHERD_OK;
		path = made;
	}
	FILE *file = fopen(path, "re");
	char buffer[BUFSIZ];
	int rc = SHERD_OK;
	if (file && setvbuf(file, buffer, _IOFBF, sizeof(buffer)) == 0)
		rc = read_lines(p, file, name);
	else if (errno != ENOENT && errno != ENOTDIR)
		rc = sherd_fail(err, SHERD_EIO, "permission", "%.150s: %s", path, strerror(errno));
	if (file)
		(void)fclose(file);
	explicit_bzero(buffer, sizeof(buffer));
	free(made);
	return rc == SHERD_ENOMEM ? sherd_fail(err, rc, "no-memory", "out of memory") : rc;
}

int shd_s3_profile_read(shd_s3_profile **out, const char *name, sherd_error *err)
{
	shd_s3_profile *p = calloc(1, sizeof(*p));
	if (!p)
		return sherd_fail(err, SHERD_ENOMEM, "no-memory", "out of memory");
	const char *which = name ? name : "default";
	int rc = read_shared(p, "AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials", which, err);
	if (rc == SHERD_OK)
		rc = read_shared(p, "AWS_CONFIG_FILE", ".aws/config", which, err);
	if (rc == SHERD_OK && name && !p->found)
		rc = sherd_fail(err, SHERD_ENOTFOUND, "not-found", "there is no profile \"%.64s\"", name);
	if (rc < 0)
		shd_s3_profile_free(p);
	else
		*out = p;
	return rc;
}

const char *shd_s3_profile_get(const shd_s3_profile *p, const char *name)
{
	for (size_t i = 0; i < p->count; i++)
		if (strcmp(p->lines[i].name, name) == 0)
			return p->lines[i].value;
	return NULL;
}

void shd_s3_profile_free(shd_s3_profile *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->count; i++) {
		if (p->lines[i].value)
			explicit_bzero(p->lines[i].value, strlen(p->lines[i].value));
		free(p->lines[i].name);
		free(p->lines[i].value);
	}
	free(p->lines);
	free(p);
}
