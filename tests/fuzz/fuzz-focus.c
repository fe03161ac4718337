/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "app/app-unit.h"
#include "app/desktop-entry.h"
#include "focus/focus-link.h"
#include "fuzz.h"
#include "util/util.h"

static void is_printable(const char *text, size_t size)
{
        char plain[1024];

        fuzz_assert(strlen(text) < size);
        fuzz_assert(strcmp(util_printable(text, plain, sizeof(plain)), text) == 0);
}

static void units(const char *text)
{
        struct cgroup_app app = { 0 };
        char path[4096];

        if (app_unit_parse(text, &app)) {
                is_printable(app.id, sizeof(app.id));
                is_printable(app.launcher, sizeof(app.launcher));
                is_printable(app.whole, sizeof(app.whole));
        }
        app_cgroup_parse(text, &app);
        is_printable(app.id, sizeof(app.id));
        if (app_cgroup_choose_path(text, path, sizeof(path)) == 0)
                app_cgroup_parse(path, &app);
}

static void entries(const char *text)
{
        struct desktop_entry entry = { 0 };

        desktop_entry_parse(text, "de_AT@euro", &entry);
        if (entry.name)
                is_printable(entry.name, 1024);
        desktop_entry_clear(&entry);
}

/* Inputs from sockets, cgroups and packages: the first byte selects the parser of the rest. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct focus_message message;
        char *text;

        if (size == 0)
                return 0;
        text = malloc(size);
        if (!text)
                return 0;
        memcpy(text, data + 1, size - 1);
        text[size - 1] = '\0';
        switch (data[0]) {
        case 'u':
                units(text);
                break;
        case 'd':
                entries(text);
                break;
        case 'm':
                if (focus_message_check(text, size - 1, 1000, &message) == 0) {
                        is_printable(message.app_id, sizeof(message.app_id));
                        fuzz_assert(message.boottime_ns <= 1000 && message.pid >= 0);
                }
                break;
        default:
                break;
        }
        free(text);
        return 0;
}
