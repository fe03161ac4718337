/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "warned.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/ini-text.h"
#include "util/log.h"
#include "util/text.h"
#include "util/units.h"
#include "util/util.h"

#define FILE_MAX (64 << 10)
#define EVERY_NS (600 * (int64_t)NS_PER_S)
#define FORGOTTEN_NS (6 * 3600 * (int64_t)NS_PER_S)

/* A line for each: its time, a blank, its id; the first is "sent". */
static void read_line(struct warned *warned, char *line)
{
        char *end;
        long long time_ns = strtoll(line, &end, 10);

        if (end == line || *end != ' ' || !end[1] || strlen(end + 1) >= WARNED_ID_MAX || warned->n == WARNED_MAX)
                return;
        if (strcmp(end + 1, "sent") == 0) {
                warned->sent_ns = time_ns;
                return;
        }
        snprintf(warned->list[warned->n].id, WARNED_ID_MAX, "%s", end + 1);
        warned->list[warned->n++].held_ns = time_ns;
}

void warned_read(const char *path, struct warned *ret)
{
        const struct log quiet = { 0 };
        _cleanup_free_ char *text = NULL;
        char *rest, *line;
        size_t length;

        *ret = (struct warned){ 0 };
        if (ini_text_read(path, FILE_MAX, &quiet, &text, &length) < 0 || memchr(text, '\0', length))
                return;
        for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
                read_line(ret, line);
}

int warned_write(const char *path, const struct warned *warned)
{
        _cleanup_free_ char *text = NULL;
        struct text_kept kept;
        FILE *file = text_open(&kept);

        if (!file)
                return -ENOMEM;
        fprintf(file, "%lld sent\n", (long long)warned->sent_ns);
        for (size_t i = 0; i < warned->n; i++)
                fprintf(file, "%lld %s\n", (long long)warned->list[i].held_ns, warned->list[i].id);
        text = text_close(file, &kept);
        return text ? util_write_file(path, text, strlen(text), 0600) : -ENOMEM;
}

bool warned_holds(struct warned *warned, const char *id, int64_t now_ns)
{
        for (size_t i = 0; i < warned->n; i++) {
                if (strcmp(warned->list[i].id, id) != 0)
                        continue;
                warned->list[i].held_ns = now_ns;
                return true;
        }
        return false;
}

void warned_told(struct warned *warned, const char *id, int64_t now_ns)
{
        size_t at = 0;

        warned->sent_ns = now_ns;
        if (warned->n < WARNED_MAX)
                at = warned->n++;
        else /* forget the one that has not held for the longest time */
                for (size_t i = 1; i < warned->n; i++)
                        if (warned->list[i].held_ns < warned->list[at].held_ns)
                                at = i;
        snprintf(warned->list[at].id, WARNED_ID_MAX, "%s", id);
        warned->list[at].held_ns = now_ns;
}

/* Clocks may be set back. */
static bool is_within(int64_t time_ns, int64_t now_ns, int64_t span_ns)
{
        return time_ns <= now_ns && time_ns > now_ns - span_ns;
}

bool warned_may(const struct warned *warned, int64_t now_ns)
{
        return !is_within(warned->sent_ns, now_ns, EVERY_NS);
}

void warned_forget(struct warned *warned, int64_t now_ns)
{
        size_t n = 0;

        for (size_t i = 0; i < warned->n; i++)
                if (is_within(warned->list[i].held_ns, now_ns, FORGOTTEN_NS))
                        warned->list[n++] = warned->list[i];
        warned->n = n;
}
