/* cli/report/style.h - how a report looks. */
#pragma once

extern const char cli_report_style[];
