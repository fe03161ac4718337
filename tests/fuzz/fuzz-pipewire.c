/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <sys/socket.h>

#include "../../poller/focus/pipewire.h"
#include "fuzz.h"
#include "util/util.h"

/* Messages of PipeWire; the first byte gives the size of the pieces. Messages to PipeWire are not read. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct pipewire pipewire = { .stream = STREAM_CLOSED, .watch_fd = -1 };
        _cleanup_close_ int root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
        struct pipewire_sound sound;
        size_t piece;
        int fds[2], err = 0;

        if (size < 1)
                return 0;
        /* With a system call for each byte the fuzzer would do little else. */
        piece = MAX((size_t)data[0] + 1, size / 64 + 1);
        fuzz_assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
        pipewire.stream.fd = fds[0];
        for (size_t at = 1; at < size && err == 0; at += piece) {
                fuzz_assert(send(fds[1], data + at, MIN(piece, size - at), MSG_NOSIGNAL | MSG_DONTWAIT) > 0);
                err = pipewire_hear(&pipewire);
        }
        pipewire_sound(&pipewire, root_fd, &sound);
        fuzz_assert(sound.n <= FOCUS_PLAYERS_MAX && pipewire.n_proxies <= pipewire.proxies_capacity);
        for (size_t i = 0; i < sound.n; i++)
                fuzz_assert(sound.pids[i] > (i ? sound.pids[i - 1] : 0));
        close(fds[1]);
        pipewire_close(&pipewire);
        return 0;
}
