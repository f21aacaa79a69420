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
	if (!about_the_data(rc))
		return shd_pass(err, rc, &e);
	shd_vec_push(&r->errors, e);
	return shd_vec_check(&r->errors, err);
}

static int warn(sherd_report *r, const char *key, const char *reason, uint64_t offset, const char *fmt, va_list ap,
                sherd_error *err)
{
	sherd_error e = {.code = SHERD_OK, .reason = reason, .offset = offset};
	(void)vsnprintf(e.message, sizeof(e.message), fmt, ap);
	(void)shd_in_object(&e, SHERD_ECORRUPT, key);
	shd_vec_push(&r->warnings, e);
	return shd_vec_check(&r->warnings, err);
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

void shd_report_done(sherd_report *r)
{
	shd_vec_done(&r->errors);
	shd_vec_done(&r->warnings);
}

int shd_report_merge(sherd_report *into, sherd_report *from, sherd_error *err)
{
	shd_vec_append(&into->errors, from->errors.items, from->errors.count);
	shd_vec_append(&into->warnings, from->warnings.items, from->warnings.count);
	into->checked += from->checked;
	shd_report_done(from);
	from->checked = 0;
	TRY(shd_vec_check(&into->errors, err));
	return shd_vec_check(&into->warnings, err);
}

size_t sherd_report_errors(const sherd_report *report)
{
	return report->errors.count;
}

size_t sherd_report_warnings(const sherd_report *report)
{
	return report->warnings.count;
}

const sherd_error *sherd_report_error(const sherd_report *report, size_t index)
{
	return index < sherd_report_errors(report) ? report->errors.items + index : NULL;
}

const sherd_error *sherd_report_warning(const sherd_report *report, size_t index)
{
	return index < sherd_report_warnings(report) ? report->warnings.items + index : NULL;
}

uint64_t sherd_report_checked_bytes(const sherd_report *report)
{
	return report->checked;
}

void sherd_report_close(sherd_report *report)
{
	if (!report)
		return;
	shd_report_done(report);
	free(report);
}
