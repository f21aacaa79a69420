#include "engine/tensors/report.h"

#include <stdio.h>
#include <stdlib.h>

int shd_report_new(sherd_report **out, sherd_error *err)
{
	*out = calloc(1, sizeof(**out));
	return *out ? SHERD_OK : shd_fail_nomem(err);
}

static bool about_the_data(int rc)
{
	switch (rc) {
	case SHERD_ENOMEM:
	case SHERD_EIO:
	case SHERD_ECANCELLED:
	case SHERD_EINVAL: return false;
	default: return rc < 0;
	}
}

int shd_report_take(sherd_report *r, int rc, const sherd_error *found, const char *key, sherd_error *err)
{
	if (rc >= 0)
		return SHERD_OK;
	sherd_error e = *found;
	(void)shd_in_object(&e, rc, key);
	if (!about_the_data(rc)) {
		if (err)
			*err = e;
		return rc;
	}
	shd_buf_append(&r->errors, &e, sizeof(e));
	return shd_buf_check(&r->errors, err);
}

static int warn(sherd_report *r, const char *key, const char *reason, uint64_t offset, const char *fmt, va_list ap,
                sherd_error *err)
{
	sherd_error e = {.code = SHERD_OK, .reason = reason, .offset = offset};
	(void)vsnprintf(e.message, sizeof(e.message), fmt, ap);
	(void)shd_in_object(&e, SHERD_ECORRUPT, key);
	shd_buf_append(&r->warnings, &e, sizeof(e));
	return shd_buf_check(&r->warnings, err);
}

int shd_report_warn(sherd_report *r, const char *key, const char *reason, sherd_error *err, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int rc = warn(r, key, reason, SHERD_NO_OFFSET, fmt, ap, err);
	va_end(ap);
	return rc;
}

int shd_report_warn_at(sherd_report *r, const char *key, const char *reason, uint64_t offset, sherd_error *err,
                       const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int rc = warn(r, key, reason, offset, fmt, ap, err);
	va_end(ap);
	return rc;
}

int shd_report_merge(sherd_report *into, sherd_report *from, sherd_error *err)
{
	shd_buf_append(&into->errors, from->errors.data, from->errors.len);
	shd_buf_append(&into->warnings, from->warnings.data, from->warnings.len);
	into->checked += from->checked;
	shd_buf_done(&from->errors);
	shd_buf_done(&from->warnings);
	from->checked = 0;
	TRY(shd_buf_check(&into->errors, err));
	return shd_buf_check(&into->warnings, err);
}

size_t sherd_report_errors(const sherd_report *report)
{
	return report->errors.len / sizeof(sherd_error);
}

size_t sherd_report_warnings(const sherd_report *report)
{
	return report->warnings.len / sizeof(sherd_error);
}

const sherd_error *sherd_report_error(const sherd_report *report, size_t index)
{
	return index < sherd_report_errors(report) ? (const sherd_error *)(const void *)report->errors.data + index
	                                           : NULL;
}

const sherd_error *sherd_report_warning(const sherd_report *report, size_t index)
{
	return index < sherd_report_warnings(report) ? (const sherd_error *)(const void *)report->warnings.data + index
	                                             : NULL;
}

uint64_t sherd_report_checked_bytes(const sherd_report *report)
{
	return report->checked;
}

void sherd_report_close(sherd_report *report)
{
	if (!report)
		return;
	shd_buf_done(&report->errors);
	shd_buf_done(&report->warnings);
	free(report);
}
