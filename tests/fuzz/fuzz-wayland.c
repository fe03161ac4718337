/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <wayland-client.h>

#include "../../poller/focus/backend.h"
#include "fuzz.h"
#include "invention.h"
#include "util/util.h"

/*
 * A Wayland compositor that sends anything: events of the registry and of the protocol for panels, in any order, and
 * bytes that are no event. libwayland reads them from a real socket, in which all are before it looks.
 */

#define DISPLAY 1
#define REGISTRY 2
#define SERVER_IDS UINT32_C(0xff000000) /* objects that the compositor makes */

struct wire {
        uint32_t words[8192];
        size_t n;
};

static void put(struct wire *wire, uint32_t word)
{
        if (wire->n < ARRAY_SIZE(wire->words))
                wire->words[wire->n++] = word;
}

static void put_bytes(struct wire *wire, const void *bytes, size_t length)
{
        put(wire, (uint32_t)length);
        for (size_t i = 0; i < length; i += 4) {
                uint32_t word = 0;

                memcpy(&word, (const char *)bytes + i, MIN(length - i, (size_t)4));
                put(wire, word);
        }
}

static void put_text(struct wire *wire, struct invention *from)
{
        size_t length = MIN((size_t)take(from), from->size - from->at);
        char text[256];

        memcpy(text, from->bytes + from->at, length);
        from->at += length;
        text[length] = '\0';
        put_bytes(wire, text, length + 1);
}

/* Returns where its size is to be written. */
static size_t begin(struct wire *wire, uint32_t object, uint32_t opcode)
{
        put(wire, object);
        put(wire, opcode);
        return wire->n - 1;
}

static void end(struct wire *wire, size_t head)
{
        wire->words[head] |= (uint32_t)(wire->n - head + 1) * 4 << 16;
}

static void put_raw(struct wire *wire, struct invention *from)
{
        for (uint8_t n = take(from) % 16; n > 0; n--) {
                uint32_t word = take(from);

                put(wire, word | (uint32_t)take(from) << 8 | (uint32_t)take(from) << 16 | (uint32_t)take(from) << 24);
        }
}

static void put_registry_event(struct wire *wire, struct invention *from, uint8_t kind)
{
        static const char manager[] = "zwlr_foreign_toplevel_manager_v1";
        size_t head = begin(wire, kind == 2 ? DISPLAY : kind == 1 ? 3 + take(from) % 8u : REGISTRY, kind == 2);

        if (kind == 0) {
                put(wire, take(from));
                if (take(from) & 1)
                        put_text(wire, from);
                else
                        put_bytes(wire, manager, sizeof(manager));
        }
        put(wire, take(from)); /* a version; a serial; an id that is free again */
        end(wire, head);
}

/* @opcode: 0 title, 1 app_id, 2 output_enter, 3 output_leave, 4 state, 5 done, 6 closed, 7 parent */
static void put_toplevel_event(struct wire *wire, struct invention *from, uint8_t opcode)
{
        size_t head = begin(wire, SERVER_IDS + take(from) % 8, opcode);

        if (opcode < 2) {
                put_text(wire, from);
        } else if (opcode == 4) {
                uint32_t states[8];
                size_t length = take(from) % (sizeof(states) + 1);

                for (size_t i = 0; i < ARRAY_SIZE(states); i++)
                        states[i] = take(from) % 4;
                put_bytes(wire, states, length);
        } else if (opcode == 2 || opcode == 3 || opcode == 7) {
                uint8_t object = take(from);

                put(wire, object ? SERVER_IDS + object % 8 : 0);
        }
        end(wire, head);
}

static void put_event(struct wire *wire, struct invention *from)
{
        uint8_t kind = take(from) % 16;
        size_t head;

        if (kind < 3) {
                put_registry_event(wire, from, kind);
        } else if (kind < 11) {
                put_toplevel_event(wire, from, kind - 3);
        } else if (kind < 14) { /* the manager's: a window, or the end */
                head = begin(wire, 3 + take(from) % 8u, kind == 13);
                if (kind != 13)
                        put(wire, SERVER_IDS + take(from) % 8);
                end(wire, head);
        } else {
                put_raw(wire, from);
        }
}

static void report(struct focus_sink *sink, const struct focus_state *state)
{
        char plain[FOCUS_APP_MAX];

        fuzz_assert(state->known && state->pid == 0 && strlen(state->app_id) < sizeof(state->app_id));
        fuzz_assert(strcmp(util_printable(state->app_id, plain, sizeof(plain)), state->app_id) == 0);
}

static void say_nothing(const char *format, va_list arguments)
{
}

/*
 * When a connection breaks, libwayland forgets the windows that it has read about and not yet handed out: nobody else
 * can free them, and the agent makes a new connection only after a pause.
 */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
        return "leak:wl_display_read_events";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct focus_sink sink = { .report = report };
        struct invention from = { data, size, 0 };
        struct backend *backend = NULL;
        static struct wire wire;
        char number[16];
        int fds[2];

        wl_log_set_handler_client(say_nothing);
        wire.n = 0;
        while (from.at < size && wire.n < ARRAY_SIZE(wire.words) - 128)
                put_event(&wire, &from);
        fuzz_assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) == 0);
        fuzz_assert(send(fds[1], wire.words, wire.n * 4, 0) == (ssize_t)wire.n * 4);
        shutdown(fds[1], SHUT_WR);
        snprintf(number, sizeof(number), "%d", fds[0]);
        setenv("WAYLAND_SOCKET", number, 1);
        if (backend_open(&wlr_backend, &sink, &backend) == 0) {
                while (wlr_backend.dispatch(backend) == 0)
                        continue;
                backend_close(backend);
        }
        close(fds[1]);
        return 0;
}
