/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Who asked for work: causes, pieces of GLib's loops and queues, tasks, and messages over D-Bus. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "record/causes.h"
#include "record/dbus-header.h"
#include "record/messages.h"
#include "record/words.h"
#include "record/work.h"

/* The numbers of a stack as digits. */
static const char *digits(struct words *stacks, uint32_t stack, char *buf, size_t size)
{
        size_t length, n = 0;
        const char *bytes = words_bytes(stacks, stack, &length);

        for (size_t i = 0; i < length && n + 1 < size; i += sizeof(uint32_t)) {
                uint32_t number;

                memcpy(&number, bytes + i, sizeof(number));
                buf[n++] = (char)('0' + number % 10);
        }
        buf[n] = '\0';
        return buf;
}

static void check_causes(void)
{
        struct words *stacks = words_new();
        struct causes *causes;
        uint32_t first, second, other, deep = CAUSE_NONE, stack;
        char text[4096];

        check_int(causes_new(stacks, &causes), 0);
        check_int(causes_add(causes, CAUSE_NONE, (uint32_t[]){ 1, 2 }, 2, &first), 0);
        check_int(causes_add(causes, first, (uint32_t[]){ 3 }, 1, &second), 0);
        check_int(causes_stack(causes, second, (uint32_t[]){ 4, 5 }, 2, &stack), 0);
        check_text(digits(stacks, stack, text, sizeof(text)), "12345");
        check_int(causes_stack(causes, CAUSE_NONE, (uint32_t[]){ 4, 5 }, 2, &stack), 0);
        check_text(digits(stacks, stack, text, sizeof(text)), "45");
        check_int(causes_root(causes, second), 1);
        /* Work that asks for its own repetition, also by way of others, stays where it is. */
        check_int(causes_add(causes, second, (uint32_t[]){ 3 }, 1, &other), 0);
        check_int(other, second);
        check_int(causes_add(causes, second, (uint32_t[]){ 1, 2 }, 2, &other), 0);
        check_int(other, first);
        for (uint32_t i = 0; i < 1000; i++)
                check_int(causes_add(causes, deep, (uint32_t[]){ i, 7 }, 2, &deep), 0);
        check_int(causes_stack(causes, deep, NULL, 0, &stack), 0);
        check_int(strlen(digits(stacks, stack, text, sizeof(text))), 2 * CAUSES_DEEP_MAX);
        causes_free(causes);
        words_free(stacks);
}

static uint32_t cause_at(struct work *work, pid_t pid, pid_t tid, uint64_t sp)
{
        const struct anchors *anchors = work_anchors(work, pid, tid);

        for (size_t i = anchors->n; i > 0; i--)
                if (anchors->list[i - 1].sp == sp)
                        return work_cause(work, tid, (int)i - 1);
        return work_cause(work, tid, -1);
}

static void check_work(void)
{
        struct work *work;
        uint64_t pieces, placed;

        check_int(work_new(&work), 0);
        /* Two loops, one inside of the other. */
        work_attached(work, 1, 1, 0xa0, 5);
        work_attached(work, 1, 1, 0xb0, 6);
        work_dispatch(work, 1, 1, 0xa0, 0xf1, 1000);
        check_int(cause_at(work, 1, 1, 1000), 5);
        work_dispatch(work, 1, 1, 0xb0, 0xf2, 800);
        check_int(cause_at(work, 1, 1, 800), 6);
        check_int(cause_at(work, 1, 1, 1000), 5);
        work_dispatched(work, 1, 1, 0xf1, 700); /* a function that is let go elsewhere */
        check_int(cause_at(work, 1, 1, 800), 6);
        work_dispatched(work, 1, 1, 0xf1, 1000);
        check(cause_at(work, 1, 1, 800) == CAUSE_NONE && cause_at(work, 1, 1, 1000) == CAUSE_NONE);
        work_dispatch(work, 1, 1, 0xb0, 0xf2, 900);
        work_dispatch(work, 1, 1, 0xc0, 0xf3, 1000); /* was never attached */
        check(cause_at(work, 1, 1, 900) == CAUSE_NONE && cause_at(work, 1, 1, 1000) == CAUSE_NONE);
        /* Another process has other sources at the same addresses. */
        work_dispatch(work, 2, 2, 0xa0, 0xf1, 1000);
        check(cause_at(work, 2, 2, 1000) == CAUSE_NONE);
        /* A pool: its thread has a cause until it asks again. */
        work_pushed(work, 1, 0x9, 0x77, 8);
        work_asked(work, 1, 3, 0x9, 500, 0x4444, true);
        check_int(work_anchors(work, 1, 3)->back, 0x4444);
        work_taken(work, 1, 3, 0x77);
        check_int(work_anchors(work, 1, 3)->back, 0);
        check_int(work_cause(work, 3, -1), 8);
        work_asked(work, 1, 3, 0x9, 500, 0x4444, true);
        check(work_cause(work, 3, -1) == CAUSE_NONE);
        work_taken(work, 1, 3, 0);
        check(work_cause(work, 3, -1) == CAUSE_NONE);
        /* A queue of the program's own: the function that took it does it. */
        work_pushed(work, 1, 0x9, 0x77, 8);
        work_asked(work, 1, 4, 0x9, 500, 0x5555, false);
        work_taken(work, 1, 4, 0x77);
        check_int(work_anchors(work, 1, 4)->list[0].back, 0x5555);
        check_int(cause_at(work, 1, 4, 500), 8);
        /* The same number twice by different calls: it cannot be told which one is taken. */
        work_pushed(work, 1, 0x9, 1, 8);
        work_pushed(work, 1, 0x9, 1, 9);
        work_asked(work, 1, 4, 0x9, 500, 0x5555, false);
        work_taken(work, 1, 4, 1);
        check(cause_at(work, 1, 4, 500) == CAUSE_NONE);
        work_counts(work, &pieces, &placed);
        check_int(pieces, 8);
        check_int(placed, 5);
        work_forget(work, 1);
        work_dispatch(work, 1, 1, 0xa0, 0xf1, 1000);
        check(cause_at(work, 1, 1, 1000) == CAUSE_NONE);
        work_free(work);
}

static void check_work_tasks(void)
{
        struct work *work;

        check_int(work_new(&work), 0);
        work_task(work, 1, 1, 20, 500, 0x6666);
        check_int(work_anchors(work, 1, 1)->back, 0x6666);
        work_task_made(work, 1, 1, 0x7a);
        check_int(work_anchors(work, 1, 1)->back, 0);
        work_task_attach(work, 1, 7, 0x7a, 0xd0); /* another thread ends it */
        work_attached(work, 1, 7, 0xd0, 21);
        work_attached(work, 1, 7, 0xd0 + 1, 22); /* and attaches one of its own */
        work_task_attach(work, 1, 7, 0x7b, 0xd2); /* a task that was not seen to be made */
        work_attached(work, 1, 7, 0xd2, 23);
        for (uint64_t i = 0; i < 3; i++) {
                static const uint32_t causes[] = { 20, 22, 23 };

                work_dispatch(work, 1, 1, 0xd0 + i, 0xf1, 1000);
                check_int(cause_at(work, 1, 1, 1000), causes[i]);
                work_dispatched(work, 1, 1, 0xf1, 1000);
        }
        work_free(work);
}

static const char message[] = "l\1\0\1" "\0\0\0\0" "\7\0\0\0" "\x5d\0\0\0"
                              "\1\1o\0" "\2\0\0\0" "/a\0\0\0\0\0\0"
                              "\2\1s\0" "\3\0\0\0" "i.f\0\0\0\0\0"
                              "\3\1s\0" "\4\0\0\0" "Call\0\0\0\0"
                              "\6\1s\0" "\4\0\0\0" ":1.9\0\0\0\0"
                              "\10\1g\0" "\1s\0\0"
                              "\11\1u\0" "\0\0\0\0"
                              "\7\1s\0" "\4\0\0\0" ":1.5\0";

static void check_dbus_header(void)
{
        struct dbus_header header;
        char bytes[sizeof(message)];
        size_t n = sizeof(message) - 1;

        check_int(dbus_header_parse(message, n, &header), 0);
        check_int(header.type, DBUS_HEADER_CALL);
        check_int(header.serial, 7);
        check_text(header.path, "/a");
        check_text(header.interface, "i.f");
        check_text(header.member, "Call");
        check_text(header.destination, ":1.9");
        check_text(header.sender, ":1.5");
        for (size_t cut = 0; cut < n; cut++)
                check_int(dbus_header_parse(message, cut, &header), -EINVAL);
        for (size_t i = 0; i < n; i++) { /* whatever a byte is, it reads no further */
                memcpy(bytes, message, sizeof(bytes));
                bytes[i] = (char)(bytes[i] + 77);
                (void)dbus_header_parse(bytes, n, &header);
        }
}

static uint32_t receive(struct messages *messages, pid_t pid, uint32_t serial, const char *sender,
                        const char *destination)
{
        struct dbus_header header = { .type = DBUS_HEADER_CALL, .serial = serial };
        uint32_t cause = 99;

        snprintf(header.path, sizeof(header.path), "/a");
        snprintf(header.member, sizeof(header.member), "Call");
        snprintf(header.sender, sizeof(header.sender), "%s", sender);
        snprintf(header.destination, sizeof(header.destination), "%s", destination);
        check_int(messages_receive(messages, pid, &header, &cause), 0);
        return cause;
}

static void send_call(struct messages *messages, pid_t pid, uint32_t serial, const char *destination, uint32_t cause)
{
        check_int(messages_make(messages, pid, destination, "/a", "", "Call"), 0);
        check_int(messages_send(messages, pid, pid, serial, cause), 0);
}

static void check_messages(void)
{
        struct messages *messages;

        check_int(messages_new(&messages), 0);
        send_call(messages, 1, 7, ":1.9", 20);
        check(receive(messages, 2, 7, ":1.5", ":1.9") == CAUSE_NONE); /* nobody is known to be :1.5 */
        check(receive(messages, 1, 1, ":1.9", ":1.5") == CAUSE_NONE);
        check_int(receive(messages, 2, 7, ":1.5", ":1.9"), 20);
        check_int(receive(messages, 2, 7, ":1.5", ":1.9"), 20); /* a signal comes to several, and so may this */
        check(receive(messages, 2, 8, ":1.5", ":1.9") == CAUSE_NONE);
        check(receive(messages, 2, 7, ":1.6", ":1.9") == CAUSE_NONE);
        /* On another bus, where :1.5 is somebody else. */
        check(receive(messages, 2, 7, ":1.5", "a.name") == CAUSE_NONE);
        check_int(messages_send(messages, 1, 1, 9, 21), 0); /* an answer, which was not made as a call */
        check(receive(messages, 2, 9, ":1.5", ":1.9") == CAUSE_NONE);
        send_call(messages, 1, 7, ":1.9", 22); /* by another connection */
        check(receive(messages, 2, 7, ":1.5", ":1.9") == CAUSE_NONE);
        send_call(messages, 1, 10, ":1.9", 23);
        check(receive(messages, 3, 1, ":1.9", ":1.5") == CAUSE_NONE); /* :1.5 is another one on another bus */
        check(receive(messages, 2, 10, ":1.5", ":1.9") == CAUSE_NONE);
        messages_free(messages);
}

static void check_work_messages(void)
{
        struct work *work;
        uint64_t pieces, placed;

        check_int(work_new(&work), 0);
        work_message(work, 1, 7, 30);
        work_attached(work, 1, 7, 0xa0, 31);
        work_task_attach(work, 1, 7, 0x7a, 0xa1); /* to read what comes next */
        work_attached(work, 1, 7, 0xa1, 33);
        work_dispatch(work, 1, 7, 0xa1, 0xf1, 1000);
        work_attached(work, 1, 7, 0xa2, 34);
        work_message(work, 1, 7, CAUSE_NONE);
        work_attached(work, 1, 7, 0xa3, 35);
        for (uint64_t i = 0; i < 4; i++) {
                static const uint32_t causes[] = { 30, 33, 34, CAUSE_NONE };

                work_dispatch(work, 1, 1, 0xa0 + i, 0xf1, 1000);
                check_int(cause_at(work, 1, 1, 1000), causes[i]);
        }
        work_counts(work, &pieces, &placed);
        check_int(pieces, 5);
        check_int(placed, 4);
        work_free(work);
}

int main(void)
{
        check_causes();
        check_work();
        check_work_tasks();
        check_work_messages();
        check_dbus_header();
        check_messages();
        return check_result();
}
