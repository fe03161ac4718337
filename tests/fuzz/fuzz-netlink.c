/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "process/inet-diag.h"
#include "process/taskstats.h"
#include "source/wifi-signal.h"
#include "util/util.h"

/* Answers of sock_diag(7) and nl80211, and messages of taskstats, as if the kernel had sent them, whole or cut. */

#define FAMILY 0x1d

static int count_socket(void *data, const struct inet_socket *socket)
{
        (void)inet_is_loopback(socket->there);
        return ++*(unsigned *)data == 100 ? -E2BIG : 0;
}

static void answer(int fds[2], const uint8_t *data, size_t size)
{
        fuzz_assert(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) == 0);
        for (size_t at = 0; at < size; at += 4096)
                fuzz_assert(send(fds[1], data + at, MIN(size - at, (size_t)4096), 0) > 0 || errno == EAGAIN);
}

static void sockets(const uint8_t *data, size_t size)
{
        int fds[2];
        unsigned n = 0;

        answer(fds, data, size);
        inet_diag_list(fds[0], count_socket, &n);
        close(fds[0]);
        close(fds[1]);
}

static void station(const uint8_t *data, size_t size)
{
        struct wifi_signal signal = { .family = FAMILY };
        int fds[2];
        int32_t dbm;

        answer(fds, data, size);
        signal.fd = fds[0];
        if (wifi_signal_ask(&signal, 1, &dbm) == 0 || wifi_signal_parse(data, size, &dbm))
                fuzz_assert(dbm < 0 && dbm >= INT8_MIN);
        wifi_signal_close(&signal);
        close(fds[1]);
}

static void threads(const uint8_t *data, size_t size)
{
        struct ended_thread thread;

        if (taskstats_parse(data, size, FAMILY, &thread))
                fuzz_assert(memchr(thread.comm, '\0', sizeof(thread.comm)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        _cleanup_free_ uint8_t *copy = malloc(size + 1); /* aligned as the buffers of recv() are */

        fuzz_assert(copy);
        memcpy(copy, data, size);
        sockets(copy, size);
        station(copy, size);
        threads(copy, size);
        return 0;
}
