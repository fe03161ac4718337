/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "../../poller/focus/backend.h"
#include "fuzz.h"
#include "socket.h"
#include "util/util.h"

static void report(struct focus_sink *sink, const struct focus_state *state)
{
        char plain[FOCUS_APP_MAX];

        fuzz_assert(state->pid >= 0 && strlen(state->app_id) < sizeof(state->app_id));
        fuzz_assert(state->known || (state->pid == 0 && !state->app_id[0]));
        fuzz_assert(strcmp(util_printable(state->app_id, plain, sizeof(plain)), state->app_id) == 0);
}

/* Sends all the compositor's data, @piece bytes at a time, and reads nothing. */
static void run(const struct backend_ops *ops, int listen_fd, const uint8_t *data, size_t size, size_t piece)
{
        struct focus_sink sink = { .report = report };
        struct backend *backend = NULL;
        int err = backend_open(ops, &sink, &backend), fd;

        fuzz_assert(err == 0 && backend_fd(backend) >= 0);
        fd = accept(listen_fd, NULL, NULL);
        fuzz_assert(fd >= 0);
        piece = MAX(piece, size / 64 + 1); /* a call of the kernel for each byte would be all that it does */
        for (size_t at = 0; at < size && err == 0; at += piece) {
                fuzz_assert(send(fd, data + at, MIN(piece, size - at), MSG_NOSIGNAL) > 0);
                err = ops->dispatch(backend);
        }
        close(fd);
        for (unsigned i = 0; i < 3 && err == 0; i++)
                err = ops->dispatch(backend);
        fuzz_assert(err < 0); /* it hung up */
        backend_close(backend);
}

static void prepare(struct fuzz_socket *events, struct fuzz_socket *requests)
{
        fuzz_listen(events, "hypr/i/.socket2.sock");
        fuzz_listen(requests, "hypr/i/.socket.sock");
        fuzz_start_answering(requests);
        setenv("SWAYSOCK", events->path, 1);
        setenv("NIRI_SOCKET", events->path, 1);
        setenv("XDG_RUNTIME_DIR", fuzz_folder, 1);
        setenv("HYPRLAND_INSTANCE_SIGNATURE", "i", 1);
}

/*
 * The sockets of compositors: the first byte selects the compositor, the second the size of the pieces. Hyprland
 * answers at another socket with the text before the first NUL.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static struct fuzz_socket events, requests;
        const uint8_t *end;
        size_t piece;

        if (size < 2)
                return 0;
        if (!*events.path)
                prepare(&events, &requests);
        piece = 1 + (size_t)data[1] * 16;
        end = memchr(data + 2, '\0', size - 2);
        switch (data[0]) {
        case 'h':
                requests.answer = data + 2;
                requests.size = (end ? (size_t)(end - data) : size) - 2;
                if (end)
                        run(&hyprland_backend, events.fd, end + 1, (size_t)(data + size - end) - 1, piece);
                break;
        case 'n':
                run(&niri_backend, events.fd, data + 2, size - 2, piece);
                break;
        case 's':
                run(&sway_backend, events.fd, data + 2, size - 2, piece);
                break;
        default:
                break;
        }
        return 0;
}
