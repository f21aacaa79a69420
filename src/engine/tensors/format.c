#include "engine/tensors/format.h"

const shd_format_entry *shd_format_entry_of(sherd_format format)
{
	for (size_t i = 0; format && shd_formats[i]; i++)
		if (shd_formats[i]->info.id == format)
			return shd_formats[i];
	return NULL;
}

const sherd_format_info *sherd_format_describe(sherd_format format)
{
	const shd_format_entry *entry = shd_format_entry_of(format);
	return entry ? &entry->info : NULL;
}

const sherd_format_info *sherd_format_at(size_t index)
{
	for (size_t i = 0; shd_formats[i]; i++)
		if (i == index)
			return &shd_formats[i]->info;
	return NULL;
}

bool sherd_format_holds(const sherd_format_info *format, sherd_dtype dtype)
{
	if ((unsigned)dtype < SHERD_DTYPE_COUNT)
		return format->dtypes & SHERD_DTYPE_BIT(dtype);
	return format->holds & (dtype == SHERD_OPAQUE ? SHERD_HOLDS_OPAQUE : SHERD_HOLDS_BLOCKS) &&
	       sherd_dtype_describe(dtype);
}

const char *sherd_format_name(sherd_format format)
{
	const shd_format_entry *entry = shd_format_entry_of(format);
	return entry ? entry->info.name : "unknown";
}

sherd_format sherd_format_by_name(const char *name)
{
	for (size_t i = 0; shd_formats[i]; i++) {
		const sherd_format_info *info = &shd_formats[i]->info;
		if (info->id &&
		    (strcmp(name, info->name) == 0 || (info->short_name && strcmp(name, info->short_name) == 0)))
			return info->id;
	}
	return SHERD_FORMAT_UNKNOWN;
}

/* The longest ending wins: ".safetensors.index.json" is not JSON of another kind. */
const sherd_format_info *sherd_format_by_path(const char *path, const sherd_format_ending **ending)
{
	const sherd_format_info *found = NULL;
	shd_str name = shd_str_of(path);
	size_t longest = 0;
	for (size_t i = 0; shd_formats[i]; i++) {
		const sherd_format_info *info = &shd_formats[i]->info;
		for (size_t k = 0; k < COUNT_OF(info->endings) && info->endings[k].text; k++) {
			size_t len = strlen(info->endings[k].text);
			if (len <= longest || len >= name.len || !shd_str_ends(name, info->endings[k].text))
				continue;
			longest = len;
			found = info;
			if (ending)
				*ending = &info->endings[k];
		}
	}
	return found;
}
