/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "app/app-private.h"
#include "app/app.h"
#include "focus-link.h"
#include "source/proc.h"
#include "util/units.h"
#include "util/util.h"

#define FOCUS_ALL (FOCUS_KNOWN | FOCUS_APP | FOCUS_LOCKED | FOCUS_TICK)

_Static_assert(sizeof(struct focus_message) == 160, "no padding: each byte of a message is checked");
_Static_assert(sizeof(struct focus_screen) == 16, "the same");
_Static_assert(sizeof(struct focus_sound) == 16 + FOCUS_PLAYERS_MAX * 16, "the same");

static bool is_plain(const char *app_id)
{
        char printable[FOCUS_APP_MAX];

        if (memchr(app_id, '\0', FOCUS_APP_MAX) == NULL)
                return false;
        return strcmp(util_printable(app_id, printable, sizeof(printable)), app_id) == 0;
}

static bool all_zero(const char *bytes, size_t length)
{
        for (size_t i = 0; i < length; i++)
                if (bytes[i])
                        return false;
        return true;
}

int focus_message_check(const void *bytes, size_t length, uint64_t now_ns, struct focus_message *ret)
{
        struct focus_message message;

        if (length != sizeof(message))
                return -EMSGSIZE;
        memcpy(&message, bytes, sizeof(message));
        if (message.magic != FOCUS_MAGIC || message.version != FOCUS_VERSION ||
            message.size != sizeof(message))
                return -EPROTO;
        if (message.have & ~(uint32_t)FOCUS_ALL)
                return -EBADMSG;
        if (!is_plain(message.app_id))
                return -EBADMSG;
        if (!all_zero(message.app_id + strlen(message.app_id),
                      sizeof(message.app_id) - strlen(message.app_id)))
                return -EBADMSG;
        if (message.pid < 0 || (message.pid == 0) != (message.start_time == 0))
                return -EBADMSG;
        if ((message.have & FOCUS_APP) &&
            (!(message.have & FOCUS_KNOWN) || (!message.pid && !*message.app_id)))
                return -EBADMSG;
        if (!(message.have & FOCUS_APP) && (message.pid || *message.app_id))
                return -EBADMSG;
        if (message.boottime_ns > now_ns)
                return -EBADMSG;
        *ret = message;
        return 0;
}

int focus_sound_check(const void *bytes, size_t length, struct focus_sound *ret)
{
        struct focus_sound sound;

        if (length != sizeof(sound))
                return -EMSGSIZE;
        memcpy(&sound, bytes, sizeof(sound));
        if (sound.magic != FOCUS_SOUND_MAGIC || sound.version != FOCUS_VERSION || sound.size != sizeof(sound))
                return -EPROTO;
        if (sound.n > FOCUS_PLAYERS_MAX || sound.others > 1)
                return -EBADMSG;
        for (size_t i = 0; i < sound.n; i++)
                if (sound.players[i].pid <= 0 || sound.players[i].zero || sound.players[i].start_time == 0)
                        return -EBADMSG;
        if (!all_zero((const char *)&sound.players[sound.n], (FOCUS_PLAYERS_MAX - sound.n) * sizeof(*sound.players)))
                return -EBADMSG;
        *ret = sound;
        return 0;
}

int focus_screen_check(const void *bytes, size_t length, struct focus_screen *ret)
{
        struct focus_screen screen;

        if (length != sizeof(screen))
                return -EMSGSIZE;
        memcpy(&screen, bytes, sizeof(screen));
        if (screen.magic != FOCUS_SCREEN_MAGIC || screen.version != FOCUS_VERSION || screen.size != sizeof(screen))
                return -EPROTO;
        if (screen.refresh_mhz && (screen.refresh_mhz < FOCUS_REFRESH_MIN || screen.refresh_mhz > FOCUS_REFRESH_MAX))
                return -EBADMSG;
        if (screen.zero)
                return -EBADMSG;
        *ret = screen;
        return 0;
}

int focus_pid_check(int root_fd, pid_t pid, uint64_t start_time, uid_t sender)
{
        _cleanup_close_ int proc_fd = openat(root_fd, "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct app_process process;
        char comm[32];
        uid_t uid;

        if (app_process_read(root_fd, pid, &process, comm, sizeof(comm)) < 0 ||
            process.start_time != start_time || proc_read_uid(proc_fd, pid, &uid) < 0)
                return -ESRCH;
        return sender == 0 || uid == sender ? 0 : -EPERM;
}

bool focus_bucket_take(struct focus_bucket *bucket, uint64_t now_ns)
{
        if (bucket->last_ns == 0)
                bucket->tokens = FOCUS_BURST;
        else if (now_ns > bucket->last_ns)
                bucket->tokens += (double)(now_ns - bucket->last_ns) / (double)NS_PER_S * FOCUS_RATE_PER_S;
        bucket->tokens = MIN(bucket->tokens, FOCUS_BURST);
        bucket->last_ns = MAX(now_ns, UINT64_C(1));
        if (bucket->tokens < 1)
                return false;
        bucket->tokens -= 1;
        return true;
}
