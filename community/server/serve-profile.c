/* SPDX-FileCopyrightText: joulecast authors */
/* SPDX-License-Identifier: GPL-2.0-or-later */

/*
 * Profiles that devices share are kept as files, FOLDER/NETWORK/CLIENT-profile.ini, so that
 * `joulecast-community pool` reads the same with and without a server. NETWORK is a number of 16
 * bits of a hash, from when the client joined. Pools are read from FOLDER/pools.
 */

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "shared/card.h"
#include "shared/name-hash.h"
#include "serve.h"
#include "util/util.h"

#define POOLS "pools"

/* 1; 0: the client came by no upload over HTTP. */
static int find_network(struct database *database, const char *hex, int64_t *ret)
{
        _cleanup_(statement_freep) struct statement *select = NULL;
        int rc = database_prepare(database, "SELECT network FROM joined WHERE client = $1", &select);

        if (rc < 0)
                return rc;
        select->ops->set_int(select, 1, name_hash_client(hex));
        rc = select->ops->step(select);
        if (rc == 1)
                *ret = select->ops->get_int(select, 0);
        return rc;
}

static int write_file(const char *folder, int64_t network, const char *hex, const char *text)
{
        _cleanup_free_ char *path = NULL, *inner = NULL;

        if (asprintf(&inner, "%s/%lld", folder, (long long)network) < 0 ||
            asprintf(&path, "%s/%s" CARD_SUFFIX, inner, hex) < 0)
                return -ENOMEM;
        if ((mkdir(folder, 0700) < 0 && errno != EEXIST) || (mkdir(inner, 0700) < 0 && errno != EEXIST))
                return -errno;
        return card_write_file(path, text, 0600);
}

int profile_take(const char *folder, struct database *database, const char *hex, const char *text, struct answer *ret)
{
        _cleanup_(profile_freep) struct profile *card = NULL;
        int64_t network = 0;
        int rc = card_read(text, strlen(text), "profile", NULL, &card);

        if (rc == -ENOMEM)
                return rc;
        if (rc < 0) {
                answer_error(ret, 400, "this is no profile that can be used");
                return 0;
        }
        rc = find_network(database, hex, &network);
        if (rc == 0)
                answer_error(ret, 404, "send samples first: of which network this client is is not known");
        if (rc <= 0)
                return rc;
        rc = write_file(folder, network, hex, text);
        if (rc == 0)
                *ret = (struct answer){ .status = 200, .body = strdup("{}") };
        return rc;
}

void profile_pool(const char *folder, const char *file, struct answer *ret)
{
        _cleanup_close_ int fd = -1;
        _cleanup_free_ char *path = NULL;
        char *text = NULL;
        size_t length = strlen(file);

        if (!folder || length == 0 || length >= CARD_FILE_SIZE || file[0] == '.' ||
            strspn(file, "abcdefghijklmnopqrstuvwxyz0123456789-.") != length) {
                answer_error(ret, 404, "there is no such pool");
                return;
        }
        if (asprintf(&path, "%s/" POOLS, folder) >= 0)
                fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0 && card_read_file(fd, file, POOL_BYTES_MAX, NULL, &text, &length) == 0)
                *ret = (struct answer){ .status = 200, .body = text, .type = "text/plain" };
        else
                answer_error(ret, 404, "nothing is given out of that yet");
}
