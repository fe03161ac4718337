/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "events.h"
#include "util/util.h"

/*
 * A page is charged where it is first written, as the kernel's own threads carry it to the storage later.
 * What a socket gives its reader is counted there, as packets come in while anybody runs.
 */
static const struct {
        const char *path, *value, *name, *filter;
} known[EVENT_COUNT] = {
        [EVENT_DIRTY] = { "writeback/writeback_dirty_folio" },
        [EVENT_READ] = { "block/block_bio_queue", .value = "nr_sector", .filter = "rwbs ~ \"R*\"" },
        [EVENT_SEND] = { "net/net_dev_queue", .value = "len", .name = "name" },
        [EVENT_RECEIVE] = { "sock/sock_recv_length", .value = "ret",
                            .filter = "(family == 2 || family == 10) && ret > 0" },
        /* Interruptible or not; not one that was pushed aside. */
        [EVENT_SLEEP] = { "sched/sched_switch", .filter = "prev_state & 3" },
        [EVENT_DRAW] = { "gpu_scheduler/drm_sched_job" }, /* i915 has its own scheduler, and is not seen */
        [EVENT_CHILD] = { "sched/sched_process_fork", .value = "child_pid" },
};

int tracepoints_field(const char *text, const char *name, struct tracepoint_place *ret)
{
        size_t length = strlen(name);

        for (const char *at = text; (at = strstr(at, "\tfield:")); at++) {
                const char *end = strchr(at, ';'), *word;
                unsigned offset, size;

                if (!end)
                        return -EINVAL;
                word = end;
                while (word > at && word[-1] == ']') /* char comm[16] */
                        while (word > at && *--word != '[')
                                ;
                if ((size_t)(word - at) <= length || strncmp(word - length, name, length) != 0 ||
                    word[-(long)length - 1] != ' ')
                        continue;
                if (sscanf(end, ";\toffset:%u;\tsize:%u;", &offset, &size) != 2 || offset > 4096 || size > 4096)
                        return -EINVAL;
                *ret = (struct tracepoint_place){ offset, size };
                return 0;
        }
        return -ENOENT;
}

uint64_t tracepoints_number(const struct tracepoint_place *field, const char *raw, size_t size)
{
        uint64_t number = 0;

        if (field->size == 0 || field->size > sizeof(number) || (size_t)field->offset + field->size > size)
                return 0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        memcpy(&number, raw + field->offset, field->size);
#else
        memcpy((char *)&number + sizeof(number) - field->size, raw + field->offset, field->size);
#endif
        return number;
}

/* The kernel's tracefs where it is mounted; else one that is mounted nowhere and goes when the descriptor is closed. */
int tracepoints_open(void)
{
        static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
        int err = -ENOENT, fd;
        _cleanup_close_ int context = -1;

        for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
                _cleanup_close_ int place = open(places[i], O_PATH | O_DIRECTORY | O_CLOEXEC);

                if (place >= 0 && faccessat(place, "events/sched", X_OK, 0) == 0)
                        return take_fd(&place);
                if (place >= 0 && errno == EACCES)
                        err = -EACCES;
        }
#if defined(SYS_fsopen) && defined(SYS_fsmount) && defined(SYS_fsconfig)
        context = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC);
        if (context < 0)
                return errno == EPERM ? -EACCES : err;
        if (syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
                return -errno;
        fd = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, 0);
        return fd < 0 ? -errno : fd;
#else
        (void)fd;
        return err;
#endif
}

static int find_one(int tracefs, size_t kind, struct tracepoint *ret)
{
        struct tracepoint point = { .filter = known[kind].filter };
        char path[96], text[8192];

        snprintf(path, sizeof(path), "events/%s/id", known[kind].path);
        if (util_read_at(tracefs, path, text, sizeof(text)) <= 0 || util_parse_u64(text, &point.id) < 0)
                return -ENOENT;
        snprintf(path, sizeof(path), "events/%s/format", known[kind].path);
        if (util_read_at(tracefs, path, text, sizeof(text)) <= 0)
                return -ENOENT;
        if (known[kind].value && tracepoints_field(text, known[kind].value, &point.value) < 0)
                return -ENOENT;
        if (known[kind].name && tracepoints_field(text, known[kind].name, &point.name) < 0)
                return -ENOENT;
        *ret = point;
        return 0;
}

int tracepoints_find(struct tracepoints *ret)
{
        struct tracepoints points = { .n = 0 };
        _cleanup_close_ int tracefs = tracepoints_open();

        if (tracefs < 0)
                return tracefs;
        for (size_t kind = 0; kind < EVENT_COUNT; kind++)
                if (known[kind].path && find_one(tracefs, kind, &points.list[kind]) == 0)
                        points.n++;
        *ret = points;
        return 0;
}
