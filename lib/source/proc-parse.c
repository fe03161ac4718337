/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "proc.h"

#include <string.h>

#include "util/util.h"

#define PF_KTHREAD 0x00200000 /* include/linux/sched.h; field 9 of stat is the task's flags */

/* Fields of stat, as proc(5) counts them. */
enum {
        FIELD_STATE = 3,
        FIELD_PARENT = 4,
        FIELD_FLAGS = 9,
        FIELD_UTIME = 14,
        FIELD_STIME = 15,
        FIELD_CUTIME = 16,
        FIELD_CSTIME = 17,
        FIELD_START_TIME = 22,
};

#define TICKS_MOST (UINT64_MAX >> 26) /* two of them, in ns, fit in 64 bits */

/* False: negative (priority, nice), too large or cut off; such fields are skipped. */
static uint64_t next_number(const char **at, const char *end, bool *good)
{
        const char *text = *at;
        uint64_t value = 0;

        *good = text < end && *text >= '0' && *text <= '9';
        for (; text < end && *text != ' ' && *text != '\n'; text++)
                if (*text < '0' || *text > '9' || __builtin_mul_overflow(value, 10, &value) ||
                    __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
                        *good = false;
        *good = *good && text < end;
        *at = text < end ? text + 1 : text;
        return value;
}

bool proc_parse_stat(const char *text, size_t length, struct proc_stat *ret)
{
        const char *open = memchr(text, '(', length), *close = memrchr(text, ')', length), *at,
                   *end = text + length;
        uint64_t field[FIELD_START_TIME + 1] = { 0 };
        struct proc_stat stat = { 0 };
        size_t name;

        if (!open || !close || close < open || end - close < 5)
                return false;
        name = MIN((size_t)(close - open - 1), sizeof(stat.comm) - 1);
        memcpy(stat.comm, open + 1, name);
        at = close + 4; /* ") S " */
        for (int i = FIELD_STATE + 1; i <= FIELD_START_TIME; i++) {
                bool good;

                field[i] = next_number(&at, end, &good);
                if (!good &&
                    (i == FIELD_FLAGS || i == FIELD_UTIME || i == FIELD_STIME || i == FIELD_START_TIME))
                        return false;
        }
        if (field[FIELD_UTIME] > TICKS_MOST || field[FIELD_STIME] > TICKS_MOST)
                return false;
        stat.kernel_thread = field[FIELD_FLAGS] & PF_KTHREAD;
        stat.parent = field[FIELD_PARENT] <= INT32_MAX ? (pid_t)field[FIELD_PARENT] : 0;
        stat.cpu_ticks = field[FIELD_UTIME] + field[FIELD_STIME];
        stat.reaped_ticks = MIN(field[FIELD_CUTIME], TICKS_MOST) + MIN(field[FIELD_CSTIME], TICKS_MOST);
        stat.start_time = field[FIELD_START_TIME];
        *ret = stat;
        return true;
}

static bool find_number(const char *text, const char *key, uint64_t *ret)
{
        const char *at = strstr(text, key), *end;
        bool good;

        if (!at || (at != text && at[-1] != '\n'))
                return false;
        at += strlen(key);
        end = at + strlen(at);
        *ret = next_number(&at, end, &good);
        return good;
}

bool proc_parse_io(const char *text, struct proc_io *ret)
{
        uint64_t read, written, cancelled = 0;

        /* With the newline, since "cancelled_write_bytes" ends alike. */
        if (!find_number(text, "read_bytes: ", &read))
                return false;
        text = strstr(text, "\nwrite_bytes: ");
        if (!text || !find_number(text + 1, "write_bytes: ", &written))
                return false;
        text = strchr(text + 1, '\n'); /* older kernels end here */
        if (text)
                find_number(text + 1, "cancelled_write_bytes: ", &cancelled);
        ret->read_bytes = read;
        ret->write_bytes = written - MIN(written, cancelled);
        return true;
}
