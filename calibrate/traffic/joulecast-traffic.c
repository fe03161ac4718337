/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include <cjson/cJSON.h>

#include "traffic.h"
#include "util/drop-root.h"
#include "util/options.h"
#include "util/units.h"
#include "util/util.h"

/*
 * joulecast-traffic: makes the network load of a calibration. It reads requests
 * from its standard input, does one at a time in a child process, and answers
 * each with one line. The end of its input ends it and its load, so that a
 * caller that dies leaves no traffic behind.
 */

#define GRACE_S 20 /* after the requested time: to connect, and for the peer's results */

static const struct log program_log = { log_to_stderr, (void *)"joulecast-traffic" };

struct worker {
        pid_t pid; /* 0: none */
        int pidfd; /* -1: none */
        struct request request;
        uint64_t start_ns;
        bool stopped;  /* by a request */
        bool timed_out; /* requested time and grace have passed */
        struct tally *tally; /* shared with the child */
};

struct input {
        char line[REQUEST_LINE_MAX];
        size_t length;
        bool too_long; /* skips the rest of the line */
        bool ended;
};

/* ---- answers ---- */

static void answer(cJSON *json)
{
        char *text = json ? cJSON_PrintUnformatted(json) : NULL;

        puts(text ? text : "{\"error\": \"no memory\"}");
        fflush(stdout);
        cJSON_free(text);
        cJSON_Delete(json);
}

static void answer_error(const char *sentence)
{
        cJSON *json = cJSON_CreateObject();
        char clean[512];

        cJSON_AddStringToObject(json, "error", util_printable(sentence, clean, sizeof(clean)));
        answer(json);
}

static void answer_work(const struct worker *worker, bool failed)
{
        const struct tally *tally = worker->tally;
        double elapsed_s = (double)(traffic_now_ns() - worker->start_ns) / NS_PER_S;
        char clean[512];
        cJSON *json = cJSON_CreateObject();

        if (failed)
                cJSON_AddStringToObject(json, "error", util_printable(tally->error, clean, sizeof(clean)));
        else
                cJSON_AddStringToObject(json, "done", request_names[worker->request.kind]);
        cJSON_AddNumberToObject(json, "rx_bytes", (double)tally->rx_bytes);
        cJSON_AddNumberToObject(json, "tx_bytes", (double)tally->tx_bytes);
        cJSON_AddNumberToObject(json, "bursts", tally->bursts);
        cJSON_AddNumberToObject(json, "seconds", round(elapsed_s * 1000) / 1000);
        cJSON_AddBoolToObject(json, "stopped", worker->stopped);
        answer(json);
}

/* ---- the child ---- */

static int work(const struct request *request, struct tally *tally)
{
        if (request->kind == REQUEST_WAKE)
                return wake(request, tally);
        return request->url[0] ? receive_from_url(request, tally) : peer_exchange(request, tally);
}

/* libiperf prints to standard output, which is for our answers: the child has none of them. */
static void child(const struct request *request, struct tally *tally)
{
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (!freopen("/dev/null", "r", stdin) || !freopen("/dev/null", "w", stdout) ||
            !freopen("/dev/null", "w", stderr))
                _exit(1);
        _exit(work(request, tally) < 0 ? 1 : 0);
}

static void worker_start(struct worker *worker, const struct request *request)
{
        memset(worker->tally, 0, sizeof(*worker->tally));
        worker->request = *request;
        worker->start_ns = traffic_now_ns();
        worker->stopped = worker->timed_out = false;
        worker->pid = fork();
        if (worker->pid == 0)
                child(&worker->request, worker->tally);
        if (worker->pid > 0)
                worker->pidfd = pidfd_open(worker->pid, 0);
        if (worker->pid < 0 || worker->pidfd < 0) {
                answer_error("no child process can be started; close programs and try again");
                if (worker->pid > 0) {
                        kill(worker->pid, SIGKILL);
                        waitpid(worker->pid, NULL, 0);
                }
                worker->pid = 0;
        }
}

/* Waits for the child and answers for it. */
static void worker_finish(struct worker *worker)
{
        int status = 0;
        bool failed;

        while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
                ;
        close(worker->pidfd);
        worker->pidfd = -1;
        worker->pid = 0;
        /* With a limit in bytes, running out of time is a normal end. */
        if (worker->stopped || worker->timed_out)
                failed = worker->timed_out && !worker->request.bytes;
        else
                failed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;
        if (failed && worker->timed_out)
                traffic_fail(worker->tally, 0, "the other side did not finish in time");
        else if (failed && !worker->tally->error[0])
                traffic_fail(worker->tally, 0, "the transfer died of signal %d",
                             WIFSIGNALED(status) ? WTERMSIG(status) : 0);
        answer_work(worker, failed);
}

static void worker_stop(struct worker *worker)
{
        if (!worker->pid)
                return;
        worker->stopped = true;
        kill(worker->pid, SIGTERM);
        worker_finish(worker);
}

static uint64_t deadline_ns(const struct worker *worker)
{
        bool by_bytes = worker->request.bytes && worker->request.peer[0];
        double grace_s = by_bytes ? 0 : GRACE_S;

        return worker->start_ns + (uint64_t)((worker->request.seconds + grace_s) * NS_PER_S);
}

/* ---- requests ---- */

static void handle_line(struct worker *worker, const char *line)
{
        struct request request;
        char error[256];

        if (request_parse(line, &request, error, sizeof(error)) < 0) {
                answer_error(error);
        } else if (request.kind == REQUEST_STOP) {
                cJSON *json = cJSON_CreateObject();

                worker_stop(worker);
                cJSON_AddStringToObject(json, "done", "stop");
                answer(json);
        } else if (worker->pid) {
                answer_error("a request is still running; stop it first or wait for its answer");
        } else {
                worker_start(worker, &request);
        }
}

static void handle_byte(struct input *input, struct worker *worker, char byte)
{
        if (byte != '\n') {
                if (input->length + 1 < sizeof(input->line))
                        input->line[input->length++] = byte ? byte : '?';
                else
                        input->too_long = true;
                return;
        }
        input->line[input->length] = '\0';
        if (input->too_long)
                answer_error("the line is too long");
        else if (input->line[strspn(input->line, " \t\r")])
                handle_line(worker, input->line);
        input->length = 0;
        input->too_long = false;
}

static void handle_input(struct input *input, struct worker *worker)
{
        char bytes[1024];
        ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes));

        if (n < 0 && (errno == EINTR || errno == EAGAIN))
                return;
        if (n <= 0)
                input->ended = true;
        for (ssize_t i = 0; i < n; i++)
                handle_byte(input, worker, bytes[i]);
}

static int wait_ms(const struct worker *worker)
{
        uint64_t now = traffic_now_ns(), deadline = deadline_ns(worker);

        if (!worker->pid || worker->timed_out)
                return -1;
        return deadline <= now ? 0 : (int)MIN((deadline - now) / NS_PER_MS + 1, UINT64_C(1000000000));
}

static void serve(struct worker *worker)
{
        struct input input = { .length = 0 };

        while (!input.ended) {
                struct pollfd fds[2] = { { STDIN_FILENO, POLLIN, 0 }, { worker->pidfd, POLLIN, 0 } };
                int n = poll(fds, 2, wait_ms(worker));

                if (n < 0 && errno != EINTR)
                        break;
                if (n == 0 && worker->pid) {
                        worker->timed_out = true;
                        kill(worker->pid, SIGTERM);
                }
                /* First the end of the work: "still running" is then true. */
                if (n > 0 && fds[1].revents)
                        worker_finish(worker);
                else if (n > 0 && fds[0].revents)
                        handle_input(&input, worker);
        }
        worker_stop(worker);
}

static int parse_options(int argc, char **argv)
{
        static const struct option_table table = {
                .program = "joulecast-traffic",
                .called = "joulecast-traffic",
                .usage = "joulecast-traffic",
                .about = "Makes the network load of joulecast-calibrate, which starts it and talks to it\n"
                         "over a pipe: requests on its standard input, one JSON object a line, each\n"
                         "answered by one line. One request runs at a time. The end of the input stops it\n"
                         "at once.",
                .after = "  {\"receive\": {\"url\": U, \"bytes_per_s\": N}}\n"
                         "               receive from an http or https URL, again and again\n"
                         "  {\"receive\": {\"peer\": HOST, \"bytes_per_s\": N}}\n"
                         "               receive from a machine that runs iperf3 -s\n"
                         "  {\"transmit\": {\"peer\": HOST, \"bytes_per_s\": N}}\n"
                         "               transmit to it\n"
                         "  {\"wake\": {\"url\": U}} or {\"wake\": {\"peer\": HOST}}\n"
                         "               one small burst (a HEAD request or a datagram), a silence, and\n"
                         "               so on\n"
                         "  {\"stop\": true}\n"
                         "               stop what runs\n"
                         "\n"
                         "Members beside these:\n"
                         "  seconds      end after so long (0.1 to 86400, default 60; with an iperf3 peer\n"
                         "               rounded up to whole seconds)\n"
                         "  bytes        of receive and transmit: end after so many\n"
                         "  bytes_per_s  1000 to 1000000000\n"
                         "  bursts       of wake: end after so many (1 to 100000)\n"
                         "  silence_s    of wake: seconds between two bursts (0.005 to 3600, default 2)\n"
                         "  packets      of wake with a peer: of each burst (1 to 1000, default 1)\n"
                         "  port         of the peer (default 5201)\n"
                         "  interface    go over this network interface alone\n"
                         "\n"
                         "Answers:\n"
                         "  {\"done\": \"receive\", \"rx_bytes\": N, \"tx_bytes\": N, \"bursts\": N, \"seconds\": S,\n"
                         "   \"stopped\": false}\n"
                         "               stopped: by a stop before its end\n"
                         "  {\"done\": \"stop\"}\n"
                         "               after the answer of what it stopped\n"
                         "  {\"error\": \"one sentence\", ...}\n"
                         "               with the counts of what was done before\n"
                         "Bytes are what the libraries carried, without the headers of the network below.\n"
                         "\n"
                         "Started by root, it gives up its privileges first.",
                .exits = "0 the input ended; 1 it failed; 2 wrong usage",
        };

        return options_read(&table, argc, argv, &program_log);
}

int main(int argc, char **argv)
{
        struct worker worker = { .pidfd = -1 };
        int status = parse_options(argc, argv);

        if (status >= 0)
                return status;
        status = drop_root(NULL, 0);
        if (status < 0) {
                log_error(&program_log, "cannot give up root's privileges (%s); start it as another user",
                        strerror(-status));
                return 1;
        }
        signal(SIGPIPE, SIG_IGN);
        /* If our parent ignored it, waitpid() would not work. */
        signal(SIGCHLD, SIG_DFL);
        worker.tally =
                mmap(NULL, sizeof(*worker.tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (worker.tally == MAP_FAILED) {
                log_error(&program_log, "no memory");
                return 1;
        }
        serve(&worker);
        return 0;
}
