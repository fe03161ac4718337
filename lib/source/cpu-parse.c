/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Texts of cpufreq and /proc/stat. Documentation/cpu-freq/cpufreq-stats.rst, proc(5). */

#include <stdio.h>
#include <string.h>

#include "cpu.h"
#include "util/util.h"

/* Parses a number at @text and returns its end; NULL if there is none or it is too large. */
static const char *number(const char *text, uint64_t *ret)
{
        uint64_t value = 0;

        while (*text == ' ' || *text == '\t')
                text++;
        if (*text < '0' || *text > '9')
                return NULL;
        for (; *text >= '0' && *text <= '9'; text++)
                if (__builtin_mul_overflow(value, 10, &value) ||
                    __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
                        return NULL;
        *ret = value;
        return text;
}

static size_t insert_point(struct cpu_time_in_state *list, size_t n, struct cpu_time_in_state point)
{
        size_t at = n;

        while (at > 0 && list[at - 1].khz > point.khz)
                at--;
        if (at > 0 && list[at - 1].khz == point.khz) {
                list[at - 1].ticks += point.ticks; /* boost frequencies are listed twice by some drivers */
                return n;
        }
        memmove(&list[at + 1], &list[at], (n - at) * sizeof(*list));
        list[at] = point;
        return n + 1;
}

size_t cpu_parse_time_in_state(const char *text, struct cpu_time_in_state *ret, size_t most)
{
        size_t n = 0;

        while (*text && n < most) {
                size_t length = strcspn(text, "\n");
                uint64_t khz, ticks;
                const char *rest = number(text, &khz);

                if (rest)
                        rest = number(rest, &ticks);
                if (rest && khz > 0 && khz <= UINT32_MAX && ticks <= UINT64_MAX >> 32)
                        n = insert_point(ret, n, (struct cpu_time_in_state){ (uint32_t)khz, ticks });
                text += length + (text[length] == '\n');
        }
        return n;
}

size_t cpu_parse_khz(const char *text, uint32_t *ret, size_t most)
{
        size_t n = 0, at;
        uint64_t khz;

        while (n < most && (text = number(text, &khz))) {
                if (khz == 0 || khz > UINT32_MAX)
                        continue;
                for (at = n; at > 0 && ret[at - 1] > khz; at--)
                        ret[at] = ret[at - 1];
                ret[at] = (uint32_t)khz;
                n++;
        }
        return n;
}

size_t cpu_parse_list(const char *text, uint32_t *ret, size_t most)
{
        size_t n = 0;

        for (;;) {
                uint64_t from, to;

                text += strspn(text, " ,\t\n");
                text = number(text, &from);
                if (!text)
                        return n;
                to = from;
                if (*text == '-')
                        text = number(text + 1, &to);
                if (!text || to > UINT16_MAX)
                        return n;
                for (; from <= to && n < most; from++)
                        if (n == 0 || ret[n - 1] < from)
                                ret[n++] = (uint32_t)from;
        }
}

char *cpu_print_list(const uint32_t *cpus, size_t n, char *buf, size_t size)
{
        size_t length = 0;

        buf[0] = '\0';
        for (size_t i = 0; i < n && length < size; i++) {
                size_t last = i;

                while (last + 1 < n && cpus[last + 1] == cpus[last] + 1)
                        last++;
                length += (size_t)snprintf(buf + length, size - length, last > i ? "%s%u-%u" : "%s%u", i ? "," : "",
                                           cpus[i], cpus[last]);
                i = last;
        }
        return buf;
}

bool cpu_parse_stat_line(const char *line, uint32_t *cpu, uint64_t *busy_ticks, uint64_t *idle_ticks)
{
        /* guest time is part of user; steal is time of other guests */
        enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, FIELDS };
        uint64_t field[FIELDS] = { 0 }, id;

        if (strncmp(line, "cpu", 3) != 0 || line[3] < '0' || line[3] > '9')
                return false;
        line = number(line + 3, &id);
        for (int i = 0; line && i < FIELDS && *line == ' '; i++)
                line = number(line, &field[i]);
        if (!line || id > UINT16_MAX)
                return false;
        for (int i = 0; i < FIELDS; i++)
                if (i != IDLE && i != IOWAIT && field[i] > UINT64_MAX >> 30)
                        return false;
        *cpu = (uint32_t)id;
        *busy_ticks = field[USER] + field[NICE] + field[SYSTEM] + field[IRQ] + field[SOFTIRQ];
        *idle_ticks = field[IDLE] + field[IOWAIT];
        if (MAX(field[IDLE], field[IOWAIT]) > UINT64_MAX >> 30)
                *idle_ticks = 0;
        return true;
}
