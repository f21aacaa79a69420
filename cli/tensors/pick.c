#include "tensors/pick.h"

#include "base/alike.h"
#include "base/auto.h"
#include "base/place.h"

#include <sherd/name.h>

#include <stdlib.h>
#include <string.h>

/* Does the name end with the words, as a path does? */
static bool has_ending(const char *name, const char *end)
{
	size_t n = strlen(name), k = strlen(end);
	return k && k < n && strcmp(name + n - k, end) == 0 && (name[n - k - 1] == '.' || name[n - k - 1] == '/');
}

static int refuse_name(const sherd_bundle *bundle, const char *name, const char *const *several, size_t count,
                       sherd_error *err)
{
	cli_alike alike = {.word = name};
	char ask[CLI_ALIKE_TEXT];
	if (count > 1)
		return cli_fail(err, SHERD_ENOTFOUND, "not-found", "%zu tensors end with %.64s: %.64s, %.64s%s", count,
		                name, several[0], several[1], count > 2 ? ", ..." : "");
	for (size_t i = 0; i < sherd_bundle_count(bundle); i++)
		cli_alike_try(&alike, sherd_bundle_tensor(bundle, i)->name);
	cli_alike_ask(&alike, ask);
	return cli_fail(err, SHERD_ENOTFOUND, "not-found", "no tensor is named %.100s%s", name, ask);
}

int cli_pick_tensor(size_t *out, const sherd_bundle *bundle, const char *name, sherd_error *err)
{
	const char *several[2] = {NULL, NULL};
	size_t index = sherd_bundle_find(bundle, name), ends = 0, last = 0;
	if (index != SHERD_NO_TENSOR) {
		*out = index;
		return SHERD_OK;
	}
	for (size_t i = 0; i < sherd_bundle_count(bundle); i++) {
		const char *known = sherd_bundle_tensor(bundle, i)->name;
		if (!has_ending(known, name))
			continue;
		if (ends < COUNT_OF(several))
			several[ends] = known;
		last = i;
		ends++;
	}
	if (ends != 1)
		return refuse_name(bundle, name, several, ends, err);
	*out = last;
	return SHERD_OK;
}

int cli_pick_tensors(size_t **out, size_t *count, const sherd_bundle *bundle, const char *glob, sherd_error *err)
{
	size_t all = sherd_bundle_count(bundle), found = 0;
	CLI_AUTO_FREE size_t *list = malloc((all + 1) * sizeof(*list));
	if (!list)
		return cli_no_memory(err);
	for (size_t i = 0; i < all; i++)
		if (!glob || sherd_name_matches(sherd_bundle_tensor(bundle, i)->name, glob))
			list[found++] = i;
	if (glob && !found && strpbrk(glob, "*?["))
		return cli_fail(err, SHERD_ENOTFOUND, "not-found", "no tensor matches %.100s", glob);
	if (glob && !found) {
		TRY(cli_pick_tensor(list, bundle, glob, err));
		found = 1;
	}
	*out = list;
	*count = found;
	list = NULL;
	return SHERD_OK;
}

static bool fits_line(const char *name)
{
	for (; *name; name++)
		if ((unsigned char)*name < 0x20 || *name == 0x7f)
			return false;
	return true;
}

int cli_pick_list(cli_out *out, const char *path, sherd_error *err)
{
	CLI_AUTO_PLACE place = {0};
	CLI_AUTO(sherd_bundle, sherd_bundle_close) bundle = NULL;
	TRY(cli_place_open_any(&place, path, false, err));
	TRY(cli_place_blame(&place, sherd_bundle_open(&bundle, place.store, place.key, NULL, err), err));
	for (size_t i = 0; i < sherd_bundle_count(bundle); i++) {
		const char *name = sherd_bundle_tensor(bundle, i)->name;
		if (*name && fits_line(name))
			cli_out_printf(out, "%s\n", name);
	}
	return EXIT_FINE;
}
