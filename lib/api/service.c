/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "service.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "util/fnv.h"
#include "util/local-socket.h"
#include "util/paths.h"
#include "util/util.h"

#define ANSWER_MAX (16u << 20) /* cJSON takes up to 40 times as much */

static const struct {
        int err;
        const char *name;
} errors[] = {
        { -ENODATA, "ENODATA" }, { -ENODEV, "ENODEV" }, { -ENOENT, "ENOENT" },       { -EINVAL, "EINVAL" },
        { -ENOMEM, "ENOMEM" },   { -EACCES, "EACCES" }, { -EOVERFLOW, "EOVERFLOW" }, { -EIO, "EIO" },
        { -EBUSY, "EBUSY" },
};

const char *service_error_name(int err)
{
        for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
                if (errors[i].err == err)
                        return errors[i].name;
        }
        return "EIO";
}

static int service_error(const char *name)
{
        for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
                if (strcmp(errors[i].name, name) == 0)
                        return errors[i].err;
        }
        return -EIO;
}

int service_fingerprint(const struct profile *profile, char fingerprint[SERVICE_FINGERPRINT_MAX])
{
        _cleanup_free_ char *text = NULL;
        int err = profile_print(profile, &text);

        if (err < 0)
                return err;
        snprintf(fingerprint, SERVICE_FINGERPRINT_MAX, "%016" PRIx64,
                 fnv_add(FNV_BEGIN, text, strlen(text)));
        return 0;
}

static int connect_to(const char *path, unsigned patience_s, int *ret)
{
        const struct timeval patience = { .tv_sec = patience_s };
        int fd = local_socket_connect(path, SOCK_STREAM, &patience);

        if (fd < 0)
                return fd;
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
        *ret = fd;
        return 0;
}

const char *service_path(void)
{
        const char *given = secure_getenv("JOULECAST_SOCKET");

        return given && *given ? given : PATHS_SERVICE_SOCKET;
}

int service_find(const char *database, const struct log *log, char **ret)
{
        const char *path = service_path();
        _cleanup_close_ int fd = -1;
        char *copy;
        int err = connect_to(path, SERVICE_PATIENCE_S, &fd);

        if (err < 0) {
                log_error(log, "you may not read %s, and no service answers at %s (%s); "
                          "start it (%s start joulecastd)",
                          database, path, strerror(-err), paths_systemctl());
                return -EACCES;
        }
        copy = strdup(path);
        if (!copy)
                return -ENOMEM;
        *ret = copy;
        return 0;
}

int service_pid(const char *path)
{
        _cleanup_close_ int fd = -1;
        struct ucred listener;
        socklen_t size = sizeof(listener);
        int err = connect_to(path, SERVICE_PATIENCE_S, &fd);

        if (err == 0 && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &listener, &size) < 0)
                err = -errno;
        return err < 0 ? err : listener.pid;
}

static int send_line(int fd, const char *line)
{
        size_t length = strlen(line), sent = 0;

        while (sent < length) {
                ssize_t n = send(fd, line + sent, length - sent, MSG_NOSIGNAL);

                if (n < 0 && errno != EINTR)
                        return errno == EAGAIN ? -ETIMEDOUT : -errno;
                sent += n > 0 ? (size_t)n : 0;
        }
        return 0;
}

/* To the end of the stream: the service closes it after its answer. */
static int receive(int fd, char **ret)
{
        _cleanup_free_ char *text = NULL;
        size_t n = 0, capacity = 0;

        for (;;) {
                ssize_t more;

                if (n + 1 >= capacity && util_grow(&text, &capacity, MAX(2 * capacity, 16384u), 1) < 0)
                        return -ENOMEM;
                more = recv(fd, text + n, capacity - n - 1, 0);
                if (more == 0 || (more < 0 && errno == ECONNRESET && n > 0)) /* it refused before it read all */
                        break;
                if (more < 0 && errno != EINTR)
                        return errno == EAGAIN ? -ETIMEDOUT : -errno;
                n += more > 0 ? (size_t)more : 0;
                if (n > ANSWER_MAX)
                        return -EMSGSIZE;
        }
        if (n == 0 || text[n - 1] != '\n')
                return -EPIPE;
        text[n] = '\0';
        *ret = TAKE_PTR(text);
        return 0;
}

int service_exchange(const char *path, const char *question, unsigned patience_s, char **ret)
{
        _cleanup_close_ int fd = -1;
        int err = connect_to(path, patience_s, &fd);

        if (err == 0)
                err = send_line(fd, question);
        /* The service may have refused the request before it was read completely. */
        return err == 0 || err == -EPIPE ? receive(fd, ret) : err;
}

int service_parse(const char *text, struct cJSON **ret)
{
        /*
         * cJSON cannot read numbers where the locale's decimal point has several bytes. localeconv(), which it calls,
         * has one result for all threads: if another thread calls it now, this can still fail.
         */
        locale_t before = util_enter_c_locale();
        struct cJSON *json;
        int err;

        errno = 0;
        json = cJSON_Parse(text);
        err = json ? 0 : errno == ENOMEM ? -ENOMEM : -EBADMSG;
        util_leave_c_locale(before);
        if (!err)
                *ret = json;
        return err;
}

void service_json_freep(struct cJSON **json)
{
        cJSON_Delete(*json);
}

static const char *text_of(const struct cJSON *json, const char *key)
{
        return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));
}

int service_error_in(const struct cJSON *json, char *sentence, size_t size)
{
        const char *name = text_of(json, "error"), *words = text_of(json, "sentence");

        util_printable(name && words ? words : "", sentence, size);
        return !cJSON_IsObject(json) ? -EBADMSG : name ? service_error(name) : 0;
}

int service_check(const struct joulecast_usage *usage, int err)
{
        if (err == -EBADMSG)
                log_error(&usage->context->log,
                          "the answer of the service at %s is not valid; is it another version?", usage->service);
        return err;
}
