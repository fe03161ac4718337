/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe-event.h"
#include "util/util.h"

static int write_line(int tracefs, const char *line)
{
        _cleanup_close_ int fd = openat(tracefs, "uprobe_events", O_WRONLY | O_APPEND | O_CLOEXEC);

        return fd < 0 || write(fd, line, strlen(line)) < 0 ? -errno : 0;
}

int probe_event_add(int tracefs, const char *name, bool returns, const char *path, uint64_t offset, const char *fields)
{
        char line[4096 + 1024];

        if (strpbrk(path, " \t\n:"))
                return -EINVAL;
        if (snprintf(line, sizeof(line), "%c:joulecast/%s_%d %s:0x%llx %s", returns ? 'r' : 'p', name,
                     (int)getpid(), path, (unsigned long long)offset, fields) >= (int)sizeof(line))
                return -ENAMETOOLONG;
        return write_line(tracefs, line);
}

void probe_event_remove(int tracefs, const char *name)
{
        char line[96];

        snprintf(line, sizeof(line), "-:joulecast/%s_%d", name, (int)getpid());
        (void)write_line(tracefs, line);
}

void probe_event_remove_left(int tracefs)
{
        _cleanup_close_ int fd = openat(tracefs, "uprobe_events", O_RDONLY | O_CLOEXEC);
        FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
        char line[4096 + 1024], name[64], wish[96];
        int pid;

        if (!file)
                return;
        (void)take_fd(&fd);
        while (fgets(line, sizeof(line), file))
                if (sscanf(line, "%*c:joulecast/%63[a-z_0-9]", name) == 1 && strrchr(name, '_') &&
                    sscanf(strrchr(name, '_'), "_%d", &pid) == 1 && kill(pid, 0) < 0 && errno == ESRCH &&
                    snprintf(wish, sizeof(wish), "-:joulecast/%s", name) > 0)
                        (void)write_line(tracefs, wish); /* the kernel keeps what is in use */
        fclose(file);
}

int probe_event_format(int tracefs, const char *name, uint64_t *id, char text[PROBE_EVENT_FORMAT_SIZE])
{
        char path[128];

        snprintf(path, sizeof(path), "events/joulecast/%s_%d/id", name, (int)getpid());
        if (util_read_at(tracefs, path, text, PROBE_EVENT_FORMAT_SIZE) <= 0 || util_parse_u64(text, id) < 0)
                return -ENOENT;
        snprintf(path, sizeof(path), "events/joulecast/%s_%d/format", name, (int)getpid());
        return util_read_at(tracefs, path, text, PROBE_EVENT_FORMAT_SIZE) > 0 ? 0 : -ENOENT;
}

int probe_event_find(int tracefs, const char *name, bool code, struct tracepoint *ret)
{
        char text[PROBE_EVENT_FORMAT_SIZE];
        struct tracepoint point = { 0 };
        const struct {
                const char *name;
                struct tracepoint_place *place;
        } others[] = { { "bytes", &point.bytes }, { "destination", &point.destination }, { "path", &point.path },
                       { "interface", &point.interface }, { "member", &point.member } };
        int err = probe_event_format(tracefs, name, &point.id, text);

        if (!err)
                err = tracepoints_field(text, "value", &point.value);
        if (!err && code)
                err = tracepoints_field(text, "code", &point.code);
        for (size_t i = 0; !err && i < ARRAY_SIZE(others); i++)
                (void)tracepoints_field(text, others[i].name, others[i].place);
        if (!err)
                *ret = point;
        return err;
}

/* Its field says where it lies: length and place, 16 bits each. */
const char *probe_event_text(const struct tracepoint_place *field, const char *raw, size_t raw_bytes,
                             char *buf, size_t size)
{
        uint64_t where = tracepoints_number(field, raw, raw_bytes);
        size_t at = where & 0xffff, length = where >> 16 & 0xffff;

        buf[0] = '\0';
        if (length > 0 && at + length <= raw_bytes)
                snprintf(buf, size, "%.*s", (int)MIN(length, size - 1), raw + at);
        if (strcmp(buf, "(fault)") == 0)
                buf[0] = '\0';
        return buf;
}
