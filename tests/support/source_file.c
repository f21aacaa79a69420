#include "support/source_file.h"

#include "support/test.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *path_of(const char *path)
{
	const char *source = getenv("SHERD_SOURCE");
	char *full;
	assert_non_null(source);
	assert_true((*path == '/' ? asprintf(&full, "%s", path) : asprintf(&full, "%s/%s", source, path)) > 0);
	return full;
}

uint8_t *source_file_read(const char *path, size_t *len)
{
	char *full = path_of(path);
	FILE *file = fopen(full, "rb");
	if (!file)
		fail_msg("%s cannot be read", full);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	long size = ftell(file);
	assert_true(size >= 0);
	rewind(file);
	/* Exactly as long as the file, so that a sanitizer sees a read past its end. */
	uint8_t *data = malloc(size ? (size_t)size : 1);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, (size_t)size, file), size);
	(void)fclose(file);
	free(full);
	*len = (size_t)size;
	return data;
}

static int visible(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

size_t source_folder_each(const char *folder, source_file_fn *each)
{
	struct dirent **names;
	char *full = path_of(folder);
	int count = scandir(full, &names, visible, alphasort);
	if (count < 0)
		fail_msg("%s cannot be listed", full);
	free(full);
	for (int i = 0; i < count; i++) {
		char path[512];
		size_t len;
		(void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]->d_name);
		uint8_t *data = source_file_read(path, &len);
		each(names[i]->d_name, data, len);
		free(data);
		free(names[i]);
	}
	free(names);
	return (size_t)count;
}

/* Appends the bytes of one line; false when the line is not of the form. */
static bool hex_line(const char *line, uint8_t *out, size_t *len)
{
	char *end;
	if (strtoul(line, &end, 16) != *len || end == line)
		return false;
	for (;;) {
		char pair[3] = {0};
		end += strspn(end, " ");
		if (*end == '\n' || *end == 0 || *end == '|')
			return true;
		memcpy(pair, end, end[1] ? 2 : 1);
		if (strspn(pair, "0123456789abcdef") != 2)
			return false;
		out[(*len)++] = (uint8_t)strtoul(pair, NULL, 16);
		end += 2;
	}
}

/* "*": the 16 bytes before, again and again up to the offset of the next line. */
static void repeat_line(const char *line, uint8_t *out, size_t *len)
{
	const char *next = strchr(line, '\n');
	size_t end = next ? strtoul(next + 1, NULL, 16) : 0;
	for (; *len >= 16 && *len < end; *len += 16)
		memcpy(out + *len, out + *len - 16, 16);
}

uint8_t *source_hex_block(const char *document, size_t *len)
{
	size_t text_len;
	uint8_t *raw = source_file_read(document, &text_len);
	char *text = calloc(1, text_len + 1);
	uint8_t *out = malloc(text_len + (1 << 20)); /* repeated lines take more room than their text */
	assert_non_null(text);
	assert_non_null(out);
	memcpy(text, raw, text_len);
	free(raw);
	*len = 0;
	char *line = strstr(text, "```hex\n");
	if (!line)
		fail_msg("%s has no block of bytes", document);
	while ((line = strchr(line, '\n')) && strncmp(++line, "```", 3) != 0)
		if (*line == '*')
			repeat_line(line, out, len);
		else if (!hex_line(line, out, len))
			fail_msg("%s: not a line of bytes: %.40s", document, line);
	free(text);
	return out;
}
