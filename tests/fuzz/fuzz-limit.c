/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "limit/limit-state.h"
#include "limit/limit-wish.h"
#include "limit/plan-file.h"
#include "util/util.h"

/*
 * limits.ini, joulecast-limits, and the files of a plan: accepted values are in range, and are read back as they were
 * written.
 */

static char path[64];
static int fd = -1;

static void remove_file(void)
{
        unlink(path);
}

static void wishes(void)
{
        static struct limit_wishes list, again;

        if (limit_wishes_read(path, NULL, &list) < 0)
                return;
        fuzz_assert(list.n <= LIMIT_WISHES_MAX);
        for (size_t i = 0; i < list.n; i++)
                fuzz_assert(*list.list[i].app && list.list[i].cpu_percent <= LIMIT_CPU_MAX &&
                            list.list[i].since_ns >= 0);
        again.n = 0;
        for (size_t i = 0; i < list.n; i++)
                if (limit_wish_set(&again, &list.list[i]) < 0)
                        return;
        fuzz_assert(limit_wishes_write(path, &again) == 0 && limit_wishes_read(path, NULL, &list) == 0 &&
                    list.n == again.n);
}

static void state(const uint8_t *data, size_t size)
{
        static struct limit_state kept, again;
        _cleanup_free_ char *text = malloc(size + 1);
        char unit[APP_UNIT_MAX];
        bool below;

        fuzz_assert(text);
        memcpy(text, data, size);
        text[size] = '\0';
        app_units_parse(text, unit, &below);
        limit_state_parse(text, &kept);
        fuzz_assert(kept.n_units <= LIMIT_UNITS_MAX && kept.n_apps <= LIMIT_APPS_MAX);
        fuzz_assert(limit_state_write(path, &kept) == 0 && limit_state_read(path, &again) == 0);
        fuzz_assert(again.n_units == kept.n_units && again.wishes_ns == kept.wishes_ns);
}

static void plan(const uint8_t *data, size_t size)
{
        static struct plan_file kept, again;
        _cleanup_free_ char *text = malloc(size + 1);

        fuzz_assert(text);
        memcpy(text, data, size);
        text[size] = '\0';
        plan_file_parse(text, &kept);
        fuzz_assert(kept.n <= PLAN_CHANGES_MAX);
        fuzz_assert(plan_file_write(path, &kept) == 0 && plan_file_read(path, &again) == 0);
        fuzz_assert(again.n == kept.n && again.until_ns == kept.until_ns);
        for (size_t i = 0; i < kept.n; i++)
                fuzz_assert(strcmp(again.list[i].app, kept.list[i].app) == 0 && strcmp(again.list[i].old,
                                                                                       kept.list[i].old) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (fd < 0) {
                fuzz_place(path, "limit");
                fd = mkostemp(path, O_CLOEXEC);
                atexit(remove_file);
        }
        fuzz_assert(fd >= 0);
        closep(&fd);
        fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600); /* it was replaced */
        fuzz_assert(fd >= 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
        wishes();
        state(data, size);
        plan(data, size);
        return 0;
}
