/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>

#include "focus/focus-link.h"
#include "fuzz.h"
#include "socket.h"
#include "util/units.h"
#include "util/util.h"

#define AGENTS 4

struct hearing {
        uint64_t now_ns;
        bool nobody_may;
};

static bool may_speak(void *data, uid_t uid)
{
        return !((const struct hearing *)data)->nobody_may;
}

static void heard(void *data, const struct focus_message *message, uint64_t boottime_ns)
{
        const struct hearing *hearing = data;
        char plain[FOCUS_APP_MAX];

        fuzz_assert(boottime_ns <= hearing->now_ns && hearing->now_ns - boottime_ns <= 5 * NS_PER_S);
        if (!message)
                return;
        fuzz_assert(message->pid >= 0 && message->boottime_ns <= boottime_ns);
        fuzz_assert(memchr(message->app_id, '\0', sizeof(message->app_id)));
        fuzz_assert(strcmp(util_printable(message->app_id, plain, sizeof(plain)), message->app_id) == 0);
        fuzz_assert(!(message->have & FOCUS_APP) || message->pid || *message->app_id);
}

static void sound(void *data, const pid_t *pids, size_t n, size_t others)
{
        fuzz_assert(n <= 16 * FOCUS_PLAYERS_MAX && others <= 16);
        for (size_t i = 0; i < n; i++)
                fuzz_assert(pids[i] > 0);
}

static void refresh(void *data, uint32_t mhz)
{
        fuzz_assert(mhz == 0 || (mhz >= FOCUS_REFRESH_MIN && mhz <= FOCUS_REFRESH_MAX));
}

static int connect_agent(const char *path)
{
        struct sockaddr_un address = { .sun_family = AF_UNIX };
        int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        strcpy(address.sun_path, path);
        fuzz_assert(fd >= 0);
        if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
                closep(&fd); /* too many wait to be let in */
        return fd;
}

/*
 * Sends a valid message with @size bytes of input at offset @place, as a message without a valid head is refused early.
 */
static void send_message(int fd, uint64_t now_ns, const uint8_t *data, size_t size, uint8_t place)
{
        struct focus_message message = {
                .magic = FOCUS_MAGIC, .version = FOCUS_VERSION, .size = sizeof(message),
                .have = FOCUS_KNOWN | FOCUS_APP, .boottime_ns = now_ns, .app_id = "a",
        };
        size_t at = MIN((size_t)place, sizeof(message));

        memcpy((char *)&message + at, data, MIN(size, sizeof(message) - at));
        (void)!send(fd, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Sends a message about players in the same way: this process, then the input. */
static void send_sound(int fd, const uint8_t *data, size_t size, uint8_t place)
{
        struct focus_sound message = { .magic = FOCUS_SOUND_MAGIC, .version = FOCUS_VERSION, .size = sizeof(message),
                                       .n = 1, .players = { { .pid = getpid(), .start_time = 1 } } };
        size_t at = MIN((size_t)place, sizeof(message));

        memcpy((char *)&message + at, data, MIN(size, sizeof(message) - at));
        (void)!send(fd, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Sends a message about the screen in the same way. */
static void send_screen(int fd, const uint8_t *data, size_t size, uint8_t place)
{
        struct focus_screen message = { .magic = FOCUS_SCREEN_MAGIC, .version = FOCUS_VERSION, .size = sizeof(message),
                                        .refresh_mhz = 60000 };
        size_t at = MIN((size_t)place, sizeof(message));

        memcpy((char *)&message + at, data, MIN(size, sizeof(message) - at));
        (void)!send(fd, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Carries out one event; @size bytes of @data are sent. */
static void happen(struct focus_link *link, const char *path, struct hearing *hearing, int fds[AGENTS],
                   uint8_t what, uint8_t value, const uint8_t *data, size_t size)
{
        int *fd = &fds[what / 8 % AGENTS];

        switch (what % 8) {
        case 0:
                closep(fd);
                *fd = connect_agent(path);
                break;
        case 1:
                (void)!send(*fd, data, size, MSG_NOSIGNAL | MSG_DONTWAIT);
                return; /* more may come before the service looks */
        case 3:
                if (what & 0x20)
                        send_screen(*fd, data, size, value);
                else
                        send_sound(*fd, data, size, value);
                break;
        case 2:
                send_message(*fd, hearing->now_ns, data, size, value);
                break;
        case 4:
                closep(fd);
                break;
        case 5:
                hearing->nobody_may = value & 1;
                focus_link_recheck(link, hearing->now_ns);
                break;
        case 6:
                focus_link_tick(link);
                break;
        default:
                hearing->now_ns += value * NS_PER_S / 16;
                break;
        }
        focus_link_dispatch(link, hearing->now_ns);
}

/* Agents that come, go and say what they like: two bytes say what happens, the third how much is sent. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const struct focus_link_ops ops = { may_speak, heard, sound, refresh };
        static char path[64];
        struct hearing hearing = { .now_ns = 1000 * NS_PER_S };
        _cleanup_close_ int root_fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int fds[AGENTS] = { -1, -1, -1, -1 };
        struct focus_link *link = NULL;

        if (!*path)
                fuzz_path(path, "focus.sock");
        fuzz_assert(focus_link_open(path, root_fd, &ops, &hearing, NULL, &link) == 0);
        while (size >= 3) {
                size_t length = MIN((size_t)data[2], size - 3);

                happen(link, path, &hearing, fds, data[0], data[1], data + 3, length);
                data += 3 + length;
                size -= 3 + length;
        }
        for (size_t i = 0; i < AGENTS; i++)
                closep(&fds[i]);
        focus_link_dispatch(link, hearing.now_ns);
        focus_link_close(link);
        return 0;
}
